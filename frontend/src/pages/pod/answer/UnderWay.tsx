import { Link } from "@tanstack/react-router";

import type { Cycle, PodDetail } from "@/api/types";
import { Asking } from "@/components/Asking";

import { t } from "../texts";

/** Of a pod in flight: how far its attempt has come, which is stored only when it has ended. */
export function UnderWay({ run, pod, cycle }: { run: string; pod: PodDetail; cycle: Cycle | null }) {
  const own = cycle !== null && cycle.pod.namespace === pod.namespace && cycle.pod.name === pod.name ? cycle : null;
  const attempt = own?.attempt ?? pod.attempts;
  const point = own?.points.find((one) => one.state === "current")?.point ?? pod.point ?? null;
  const note = own === null || own.note === "" ? "" : ` (${own.note})`;
  return (
    <p>
      {point === null ? t("underWay", { attempt }) : t("underWayAt", { attempt, point })}
      {note}.{" "}
      {own?.asking === undefined ? null : (
        <>
          <Asking asking={own.asking} />{" "}
        </>
      )}
      <Link to="/runs/$run" params={{ run }} search={{ pod: `${pod.namespace}/${pod.name}` }} className="leads">
        {t("followOnTheRun")}
      </Link>
    </p>
  );
}
