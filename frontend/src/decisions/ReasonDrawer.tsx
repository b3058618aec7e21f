/**
 * Reject and Override ask for a reason, Approve may have one: a drawer with the pods, what will happen, and a button that
 * stays off until there is a reason where one is needed. The text is kept when sending fails.
 */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";

import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import drawer from "@/components/Drawer.module.css";
import { Icon, type IconName } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";
import { listed } from "@/format/lists";
import { type Requests, requestSum } from "@/format/requestSum";
import { refusal } from "@/live/reach";

import { type DecidedPod, podKey, realClusters } from "./approvals";
import { approvals, override, reject } from "./decide";
import classes from "./ReasonDrawer.module.css";
import { draftOf, keepDraft, offeredReasons, rememberReason } from "./reasons";
import { t } from "./texts";

export type ReasonPod = DecidedPod & {
  node?: string | null | undefined;
  /** Where the pods of one decision are in several runs. */
  run?: string | undefined;
  requests?: Requests | undefined;
  /** The plugin this pod's override lets go. */
  letsGo?: string | undefined;
};

export interface ReasonRequest {
  kind: "reject" | "override" | "approve";
  run: string;
  pods: readonly ReasonPod[];
  /** Who rejects, or for an override which plugin would have waited on. */
  plugin?: string | undefined;
  /** "What happens", one sentence each, where the caller knows better than the drawer. */
  follows?: readonly ReactNode[];
}

interface ReasonDrawerProps {
  request: ReasonRequest | null;
  onClose: () => void;
  onDone?: () => void;
}

export default function ReasonDrawer({ request, onClose, onDone }: ReasonDrawerProps) {
  useFocusBack();
  return (
    <Drawer.Root
      opened={request !== null}
      onClose={onClose}
      position="right"
      size={440}
      transitionProps={{ duration: 160 }}
      classNames={{ overlay: drawer.scrim ?? "", content: drawer.content ?? "", title: drawer.title ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        {request === null ? null : <Form request={request} onClose={onClose} onDone={onDone} />}
      </Drawer.Content>
    </Drawer.Root>
  );
}

/** A reason is about these pods and this decision. */
function draftKey({ kind, run, pods }: ReasonRequest): string {
  return [kind, ...pods.map((pod) => `${pod.run ?? run} ${podKey(pod)}`)].join("\n");
}

/** One command per run, and for overrides per plugin: a command names one of each. */
async function send(request: ReasonRequest, reason: string): Promise<void> {
  const batches = new Map<string, { run: string; plugin: string; pods: ReasonPod[] }>();
  for (const pod of request.pods) {
    const run = pod.run ?? request.run;
    const plugin = pod.letsGo ?? request.plugin ?? "";
    const key = `${run} ${request.kind === "override" ? plugin : ""}`;
    const batch = batches.get(key);
    if (batch === undefined) batches.set(key, { run, plugin, pods: [pod] });
    else batch.pods.push(pod);
  }
  for (const { run, plugin, pods } of batches.values()) {
    if (request.kind === "reject") await reject(run, pods, reason);
    else if (request.kind === "override") await override(run, pods, reason, plugin);
    else approvals.approve(run, pods, reason);
  }
}

function Form({
  request,
  onClose,
  onDone,
}: {
  request: ReasonRequest;
  onClose: () => void;
  onDone?: (() => void) | undefined;
}) {
  const queries = useQueryClient();
  const target = draftKey(request);
  const [reason, setText] = useState(draftOf(target));
  const setReason = (text: string) => {
    keepDraft(target, text);
    setText(text);
  };
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [offered] = useState(offeredReasons);
  const text = reason.trim();
  const ready = !sending && (text !== "" || request.kind === "approve");
  const submit = async () => {
    const refused = refusal();
    if (refused !== null) {
      setError(new Error(refused));
      return;
    }
    setSending(true);
    setError(null);
    try {
      await send(request, text);
      if (text !== "") rememberReason(text);
      keepDraft(target, "");
      // With the focus back in it, a list of who waits would keep the decided rows in their places as gone.
      if (request.kind !== "approve") await queries.invalidateQueries({ queryKey: ["waiting"] });
      onDone?.();
      onClose();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
      setSending(false);
    }
  };
  const count = request.pods.length;
  const real = realClusters(request.pods);
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
          {request.kind === "override" ? t("letGoWithoutWaiting", { count }) : t(`decide.${request.kind}`, { count })}
        </Drawer.Title>
        <span className="grow" />
        <Drawer.CloseButton aria-label={t("close")} />
      </div>
      <div className={drawer.body}>
        <ul className={classes.pods}>
          {request.pods.map((pod) => (
            <li key={`${pod.run ?? ""} ${pod.namespace}/${pod.name}`}>
              <PodName pod={pod} />
              {pod.node ? <span className="mono">{pod.node}</span> : null}
            </li>
          ))}
        </ul>
        <label className={drawer.label} htmlFor="reason">
          {t("reason")}{" "}
          <span className="faint">
            {request.kind === "reject"
              ? t("requiredForStatus", { count })
              : request.kind === "override"
                ? t("requiredKeptWithTheDecision")
                : t("optionalKeptWithTheDecision")}
          </span>
        </label>
        <textarea
          id="reason"
          className={classes.reason}
          rows={3}
          value={reason}
          data-autofocus
          required={request.kind !== "approve"}
          onChange={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && ready) void submit();
          }}
        />
        <div className={classes.quick}>
          <span className="faint">{offered.title}</span>
          {offered.reasons.map((one) => (
            <button key={one} type="button" className={classes.offer} onClick={() => setReason(one)}>
              {one}
            </button>
          ))}
        </div>
        <h3 className={classes.follows}>{t("whatHappens")}</h3>
        <ul className={classes.list}>
          {real.length === 0 ? null : (
            <li>
              <Icon name="bolt" size={14} />
              <b>
                {request.kind === "reject"
                  ? t("writtenForReal", { count, contexts: listed(real) })
                  : t("boundForReal", { count, contexts: listed(real) })}
              </b>
            </li>
          )}
          {followsOf(request).map((line, index) => (
            <li key={index}>
              <Icon name={line.icon} size={14} />
              <span>{line.text}</span>
            </li>
          ))}
        </ul>
        {error === null ? null : (
          <Failed
            what={request.kind === "reject" ? t("notRejectedTheTextIs") : t("notOverriddenTheTextIs")}
            error={error}
          />
        )}
      </div>
      <div className={`${drawer.footer} ${classes.foot}`}>
        <span className="faint" aria-live="polite">
          {ready || sending ? "" : t("aReasonIsNeeded")}
        </span>
        <span className="grow" />
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button
          kind={request.kind === "reject" ? "danger-solid" : "primary"}
          type="submit"
          sends
          disabled={!ready}
          hint="Ctrl Enter"
        >
          {sending ? t("sending") : t(`decide.${request.kind}`, { count })}
        </Button>
      </div>
    </form>
  );
}

function followsOf({ kind, pods, plugin, follows }: ReasonRequest): { icon: IconName; text: ReactNode }[] {
  if (follows !== undefined) return follows.map((text) => ({ icon: "info", text }));
  const held = requestSum(pods, ", ");
  const count = pods.length;
  if (kind === "reject") {
    return [
      { icon: "back", text: held === "" ? t("reserveIsUndone") : t("reserveIsUndoneAreFree", { held }) },
      {
        icon: "unschedulable",
        text: plugin === undefined ? t("toUnschedulable", { count }) : t("toUnschedulableWith", { count, plugin }),
      },
      {
        icon: "active",
        text: plugin === undefined ? t("triedAgain", { count }) : t("triedAgainBy", { count, plugin }),
      },
    ];
  }
  return kind === "override"
    ? [
        {
          icon: "bound",
          text: plugin === undefined ? t("notWaitedFor", { count }) : t("notWaitedForPlugin", { count, plugin }),
        },
        { icon: "warning", text: t("startsIncomplete", { count }) },
      ]
    : [{ icon: "bound", text: t("sentAfter", { count }) }];
}
