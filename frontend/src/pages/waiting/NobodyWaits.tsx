import { getRouteApi } from "@tanstack/react-router";

import { Button, ButtonLink } from "@/components/Button";
import { Empty } from "@/components/Outcome";

import { t } from "./texts";

const route = getRouteApi("/waiting");

/** Why the list is empty: nothing fits the filter, nobody waits in the run, or nobody waits at all. */
export function NobodyWaits() {
  const { run, q, kind } = route.useSearch();
  const navigate = route.useNavigate();
  if (q !== undefined || kind !== undefined)
    return (
      <Empty
        action={
          <Button
            size="sm"
            onClick={() =>
              void navigate({ search: (old) => ({ ...old, q: undefined, kind: undefined }), replace: true })
            }
          >
            {t("clearTheFilter")}
          </Button>
        }
      >
        {q === undefined ? t("noWaitingPodOfKind") : t("noWaitingPodMatchesText", { q })}
      </Empty>
    );
  if (run !== undefined)
    return (
      <Empty
        action={
          <Button
            size="sm"
            onClick={() => void navigate({ search: (old) => ({ ...old, run: undefined }), replace: true })}
          >
            {t("allRuns")}
          </Button>
        }
      >
        {t("nobodyWaitsInThisRun")}
      </Empty>
    );
  return (
    <Empty
      action={
        <ButtonLink size="sm" to="/configurations">
          {t("addManualApprovalToAProfile")}
        </ButtonLink>
      }
    >
      {t("nobodyWaitsPodsAppearHere")}
    </Empty>
  );
}
