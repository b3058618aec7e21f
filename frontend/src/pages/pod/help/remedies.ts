/** What a remedy does and costs, in words. */
import type { HelpAnswer, Remedy } from "@/api/analyses";

import { t } from "../texts";

/** Where the pod goes, how many like it have a node then, and that nobody pays for it; who pays is listed below it. */
export function remedyDetail(remedy: Remedy, answer: Pick<HelpAnswer, "workload" | "alike">): string {
  const { workload, alike } = answer;
  const said = [whereItGoes(remedy)];
  if (remedy.pods > alike) said.push(t("allMadeAnew", { count: remedy.pods, workload }));
  if (alike > 1 && remedy.kind !== "fewer") said.push(t("placedOfAlike", { count: remedy.placed, alike, workload }));
  if (remedy.others_count === 0) {
    // Answers of older versions say it in one sentence.
    if (remedy.cost !== "") said.push(remedy.cost);
    else said.push(remedy.left_pending > 0 ? t("afterwards", { count: remedy.left_pending }) : t("nobodyLosesAPlace"));
  }
  if (!remedy.finished) said.push(t("notPlayedToItsEnd"));
  return said.join(" ");
}

function whereItGoes(remedy: Remedy): string {
  if (remedy.kind === "fewer") return t("notWantedAnyMore", { count: remedy.pods });
  return isNew(remedy) ? t("itGoesToTheNew") : t("itGoesTo", { node: remedy.node });
}

/** Of a group that gets a node more, each member may go to another one. */
function isNew({ node, operations }: Remedy): boolean {
  return operations.some(
    ({ verb, manifest }) => verb === "add" && manifest.kind === "Node" && nameOf(manifest.metadata) === node,
  );
}

function nameOf(metadata: unknown): unknown {
  return typeof metadata === "object" && metadata !== null && "name" in metadata ? metadata.name : undefined;
}

/** For an answer without remedies. */
export function noRemedy(answer: HelpAnswer): string {
  if (answer.fits_on !== "") {
    const fitson = answer.fits_on;
    return answer.without_extenders ? t("withoutExtendersItGoes", { fitson }) : t("nothingHasToChangeIt", { fitson });
  }
  return answer.complete ? t("nothingKnownHereHelpsNo") : t("noTimeToTry");
}
