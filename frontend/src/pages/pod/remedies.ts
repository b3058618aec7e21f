/** What a remedy does and costs, in words. */
import type { HelpAnswer, Remedy } from "@/api/analyses";

import { t } from "./texts";

export function remedyDetail(remedy: Remedy): string {
  const goes = remedy.kind === "node" ? t("itGoesToTheNew") : t("itGoesTo", { node: remedy.node });
  if (remedy.cost !== "") return `${goes} ${remedy.cost}`;
  return remedy.left_pending > 0
    ? `${goes} ${t("afterwards", { count: remedy.left_pending })}`
    : `${goes} ${t("nobodyLosesAPlace")}`;
}

/** For an answer without remedies. */
export function noRemedy(answer: HelpAnswer): string {
  return answer.fits_on !== ""
    ? t("nothingHasToChangeIt", { fitson: answer.fits_on })
    : t("nothingKnownHereHelpsNo");
}
