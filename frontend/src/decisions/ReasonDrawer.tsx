/**
 * Reject and Override ask for a reason: a drawer with the pods, what will follow, and a button that stays off until there
 * is one. The text is kept when sending fails.
 */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { type ReactNode, useState } from "react";

import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { Failed } from "@/components/Outcome";
import { counted } from "@/format/number";

import type { DecidedPod } from "./approvals";
import { override, reject } from "./decide";
import classes from "./ReasonDrawer.module.css";

export interface ReasonRequest {
  kind: "reject" | "override";
  run: string;
  pods: readonly (DecidedPod & { node?: string | null | undefined })[];
  /** Override names the plugin that would have waited. */
  plugin?: string | undefined;
  /** "What follows", one sentence each; the caller knows the numbers. */
  follows?: readonly ReactNode[];
}

interface ReasonDrawerProps {
  request: ReasonRequest | null;
  onClose: () => void;
  onDone?: () => void;
}

const QUICK = ["Not now", "Wrong node pool", "Over budget"];

export default function ReasonDrawer({ request, onClose, onDone }: ReasonDrawerProps) {
  return (
    <Drawer.Root opened={request !== null} onClose={onClose} position="right" size={440} transitionProps={{ duration: 160 }}>
      <Drawer.Overlay className={classes.scrim ?? ""} />
      <Drawer.Content className={classes.content ?? ""}>
        {request === null ? null : <Form request={request} onClose={onClose} onDone={onDone} />}
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Form({ request, onClose, onDone }: { request: ReasonRequest; onClose: () => void; onDone?: (() => void) | undefined }) {
  const [reason, setReason] = useState("");
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const rejecting = request.kind === "reject";
  const text = reason.trim();
  const send = async () => {
    setSending(true);
    setError(null);
    try {
      if (rejecting) await reject(request.run, request.pods, text);
      else await override(request.run, request.pods, text, request.plugin ?? "");
      onDone?.();
      onClose();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
      setSending(false);
    }
  };
  const what = counted(request.pods.length, "pod");
  return (
    <form className={classes.form} onSubmit={(event) => {
      event.preventDefault();
      if (text !== "" && !sending) void send();
    }}>
      <header className={classes.header}>
        <Drawer.Title className={classes.title ?? ""}>{rejecting ? `Reject ${what}` : `Let ${what} go without waiting`}</Drawer.Title>
        <span className="grow" />
        <Drawer.CloseButton aria-label="Close" />
      </header>
      <div className={classes.body}>
        <ul className={classes.pods}>
          {request.pods.map((pod) => (
            <li key={`${pod.namespace}/${pod.name}`}>
              <PodName pod={pod} />
              {pod.node ? <span className="mono">{pod.node}</span> : null}
            </li>
          ))}
        </ul>
        <label className={classes.label} htmlFor="reason">Reason <span className="faint">goes into the pod’s status message</span></label>
        <textarea id="reason" rows={3} value={reason} data-autofocus onChange={(event) => setReason(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && text !== "" && !sending) void send();
          }} />
        {rejecting ? (
          <div className={classes.quick}>
            <span className="faint">or</span>
            {QUICK.map((one) => <Button key={one} size="sm" onClick={() => setReason(one)}>{one}</Button>)}
          </div>
        ) : null}
        {request.follows === undefined || request.follows.length === 0 ? null : (
          <>
            <h3 className={classes.follows}>What follows</h3>
            <ul className={classes.list}>{request.follows.map((line, index) => <li key={index}>{line}</li>)}</ul>
          </>
        )}
        {error === null ? null : <Failed what={rejecting ? "Not rejected." : "Not overridden."} error={error} />}
      </div>
      <footer className={classes.footer}>
        <span className="faint">{text === "" ? "A reason is needed." : ""}</span>
        <span className="grow" />
        <Button kind="ghost" onClick={onClose}>Cancel</Button>
        <Button kind={rejecting ? "danger-solid" : "primary"} type="submit" disabled={text === "" || sending}>
          {sending ? "Sending…" : `${rejecting ? "Reject" : "Override"} ${what}`}
        </Button>
      </footer>
    </form>
  );
}
