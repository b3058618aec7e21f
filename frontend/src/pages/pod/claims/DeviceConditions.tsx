/**
 * What a pod with an allocated device waits for before it is bound: the device's binding conditions, and those on which
 * binding fails. A simulated cluster has no driver that would say so; here a person says it.
 */
import { useState } from "react";

import { perform } from "@/live/commands";
import type { Device, DeviceClaim } from "@/api/podTypes";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { isMoment } from "@/rewind/moment";
import { notifyError } from "@/shell/notify";

import { t } from "../texts";
import classes from "./ClaimsPanel.module.css";

type Condition = Device["conditions"][number];

function stateOf({ fails, status }: Condition): { word: string; kind: "ok" | "line" | "warn" } {
  if (status !== "True") return { word: fails ? t("condition.notFailed") : t("condition.notYet"), kind: "line" };
  return fails ? { word: t("condition.failed"), kind: "warn" } : { word: t("condition.met"), kind: "ok" };
}

export function DeviceConditions({ run, claim, device }: { run: string; claim: DeviceClaim; device: Device }) {
  const { operates } = useMe();
  const [busy, setBusy] = useState("");
  const say = async (condition: Condition) => {
    setBusy(condition.type);
    try {
      await perform(run, {
        type: "device_condition",
        namespace: claim.namespace,
        name: claim.claim,
        driver: device.driver,
        pool: device.pool,
        device: device.device,
        condition: condition.type,
        status: condition.status === "True" ? "False" : "True",
      });
    } catch (error) {
      notifyError(t("theConditionWasNotSet"), error);
    }
    setBusy("");
  };
  return (
    <div className={classes.conditions}>
      <p className="faint">{t("conditionsOf", { device: device.device })}</p>
      <ul aria-label={t("conditionsOf", { device: device.device })}>
        {device.conditions.map((condition) => {
          const { word, kind } = stateOf(condition);
          const next = condition.status === "True" ? "False" : "True";
          return (
            <li key={condition.type} title={condition.text}>
              <span className="mono">{condition.type}</span>
              <Chip kind={kind}>{word}</Chip>
              {operates && !isMoment(run) ? (
                <Button
                  size="sm"
                  kind={condition.fails && next === "True" ? "danger" : "default"}
                  sends
                  disabled={busy !== ""}
                  aria-label={t("setConditionOfTo", { condition: condition.type, device: device.device, status: next })}
                  onClick={() => void say(condition)}
                >
                  {t("setTo", { status: next })}
                </Button>
              ) : null}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
