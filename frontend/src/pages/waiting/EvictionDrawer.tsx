/** Evicting asks once more, and for a reason that the pod's owner can read; keeping the pods needs one. */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Eviction } from "@/api/waitingTypes";
import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import drawer from "@/components/Drawer.module.css";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";
import { tellLate } from "@/decisions/decide";
import reasons from "@/decisions/ReasonDrawer.module.css";
import { perform } from "@/live/commands";
import { refusal } from "@/live/reach";

import { t } from "./texts";

export interface EvictionRequest {
  decision: "approve" | "reject";
  eviction: Eviction;
}

interface EvictionDrawerProps {
  request: EvictionRequest;
  onClose: () => void;
}

export default function EvictionDrawer({ request, onClose }: EvictionDrawerProps) {
  useFocusBack();
  return (
    <Drawer.Root
      opened
      onClose={onClose}
      position="right"
      size={440}
      transitionProps={{ duration: 160 }}
      classNames={{ overlay: drawer.scrim ?? "", content: drawer.content ?? "", title: drawer.title ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <Form request={request} onClose={onClose} />
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Form({ request, onClose }: EvictionDrawerProps) {
  const { decision, eviction } = request;
  const { run, number, namespace, name, victims, node, follows, dry_run } = eviction;
  const evicts = decision === "approve";
  const n = victims.length;
  const queries = useQueryClient();
  const [reason, setReason] = useState("");
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const text = reason.trim();
  const ready = !sending && (evicts || text !== "");
  const submit = async () => {
    const refused = refusal();
    if (refused !== null) {
      setError(new Error(refused));
      return;
    }
    setSending(true);
    setError(null);
    try {
      const evictions = [{ number, namespace, name }];
      tellLate(
        await perform(run, { type: "decide_eviction", decision, evictions, ...(text === "" ? {} : { reason: text }) }),
      );
      await queries.invalidateQueries({ queryKey: ["waiting"] });
      onClose();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
      setSending(false);
    }
  };
  const verb = evicts ? t("evictPods", { count: n }) : t("keepPods", { count: n });
  return (
    <form
      className={drawer.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void submit();
      }}
    >
      <div className={drawer.header}>
        <Drawer.Title>
          {evicts ? t("evictForQuestion", { count: n, name }) : t("keepForQuestion", { count: n, name })}
        </Drawer.Title>
        <span className="grow" />
        <Drawer.CloseButton aria-label={t("close")} />
      </div>
      <div className={drawer.body}>
        <ul className={reasons.pods}>
          {victims.map((victim) => (
            <li key={victim.uid}>
              <PodName pod={victim} />
              <span className="faint">
                {victim.budgets.some((budget) => budget.is_violated) ? t("violatesABudget") : victim.namespace}
              </span>
            </li>
          ))}
        </ul>
        <label className={drawer.label} htmlFor="eviction-reason">
          {t("reason")} <span className="faint">{evicts ? t("optionalReason") : t("requiredReason")}</span>
        </label>
        <textarea
          id="eviction-reason"
          className={reasons.reason}
          rows={3}
          value={reason}
          data-autofocus
          required={!evicts}
          onChange={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && ready) void submit();
          }}
        />
        <h3 className={reasons.follows}>{t("whatHappens")}</h3>
        <ul className={reasons.list}>
          {(evicts
            ? [
                t("triedAgainAndEvicts", { name, node }),
                follows === null
                  ? t("victimsAreDeleted")
                  : dry_run
                    ? t("deletionsAreOnlyTried", { cluster: follows })
                    : t("realPodsAreDeleted", { cluster: follows }),
              ]
            : [t("staysUnschedulable", { name }), t("notProposedAgain")]
          ).map((line) => (
            <li key={line}>
              <Icon name="info" size={14} />
              <span>{line}</span>
            </li>
          ))}
        </ul>
        {error === null ? null : <Failed what={t("notDecidedTheTextIs")} error={error} />}
      </div>
      <div className={`${drawer.footer} ${reasons.foot}`}>
        <span className="faint" aria-live="polite">
          {ready || sending ? "" : t("aReasonIsNeeded")}
        </span>
        <span className="grow" />
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button kind={evicts ? "danger-solid" : "primary"} type="submit" sends disabled={!ready} hint="Ctrl Enter">
          {sending ? t("sending") : verb}
        </Button>
      </div>
    </form>
  );
}
