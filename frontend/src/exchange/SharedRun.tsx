/** In the top bar of a visitor, in place of the pages: the one run that the link is for. */
import { Link } from "@tanstack/react-router";

import type { Me } from "@/api/types";

import { t } from "./texts";

export function SharedRun({ me }: { me: Me }) {
  return <>{me.shared.map((one) => <Link key={one.run} to="/runs/$run" params={{ run: one.run }} title={t("sharedRun")}>{one.name}</Link>)}</>;
}
