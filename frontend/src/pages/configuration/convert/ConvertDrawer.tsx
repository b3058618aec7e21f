/**
 * An older file of kube-scheduler, or its flags, beside what it is in v1: what was dropped, changed and carried over, each
 * with a sentence, and the lines. Nothing happens to the draft before *Use this*.
 */
import "@mantine/core/styles/CloseButton.layer.css";
import "@mantine/core/styles/Overlay.layer.css";
import "@mantine/core/styles/Paper.layer.css";
import "@mantine/core/styles/ModalBase.layer.css";
import "@mantine/core/styles/Drawer.layer.css";

import { Drawer } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { convertQuery } from "@/api/configurationQueries";
import type { Conversion, Finding } from "@/api/configurationTypes";
import { Button } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Failed, Outlines } from "@/components/Outcome";
import { useFocusBack } from "@/components/useFocusBack";

import { DiffNumbers, DiffView } from "../changes/DiffView";
import drawer from "../header/SaveDrawer.module.css";
import { t } from "../texts";
import classes from "./Convert.module.css";

interface ConvertDrawerProps {
  /** The old text; null to have one pasted. */
  text: string | null;
  onUse: (text: string) => void;
  onClose: () => void;
}

interface Asked {
  text: string;
  flags: string;
}

export default function ConvertDrawer(props: ConvertDrawerProps) {
  useFocusBack();
  return (
    <Drawer.Root
      opened
      onClose={props.onClose}
      position="right"
      size={760}
      transitionProps={{ duration: 160 }}
      classNames={{ content: drawer.content ?? "", overlay: drawer.scrim ?? "" }}
    >
      <Drawer.Overlay />
      <Drawer.Content>
        <Body {...props} />
      </Drawer.Content>
    </Drawer.Root>
  );
}

function Body({ text, onUse, onClose }: ConvertDrawerProps) {
  const [pasted, setPasted] = useState("");
  const [flags, setFlags] = useState("");
  const [asked, setAsked] = useState<Asked | null>(text === null ? null : { text, flags: "" });
  const made = useQuery({ ...convertQuery(asked?.text ?? "", asked?.flags ?? ""), enabled: asked !== null });
  const given = text ?? pasted;
  const current = asked !== null && asked.text === given && asked.flags === flags.trim();
  const result = current ? made.data : undefined;
  const convert = () => setAsked({ text: given, flags: flags.trim() });
  return (
    <div className={drawer.form}>
      <div className={drawer.header}>
        <Drawer.Title className={drawer.title ?? ""}>{t("convertAnOlderFile")}</Drawer.Title>
        <span className="grow" />
        <Drawer.CloseButton aria-label={t("close")} />
      </div>
      <div className={drawer.body}>
        <form
          className={classes.given}
          onSubmit={(event) => {
            event.preventDefault();
            // Events of a portal go up React's tree, where the form of a new configuration may stand.
            event.stopPropagation();
            if (given.trim() !== "") convert();
          }}
        >
          {text === null ? (
            <>
              <label htmlFor="older-text">{t("olderFileOrCommandLine")}</label>
              <textarea
                id="older-text"
                value={pasted}
                rows={8}
                spellCheck={false}
                autoComplete="off"
                aria-describedby="older-text-about"
                data-autofocus
                onChange={(event) => setPasted(event.currentTarget.value)}
              />
              <p id="older-text-about" className="faint">
                {t("olderFileOrCommandLineAbout")}
              </p>
            </>
          ) : null}
          <label htmlFor="older-flags">
            {t("flagsBesideTheFile")} <span className="faint">{t("optional")}</span>
          </label>
          <div className={classes.flags}>
            <input
              id="older-flags"
              value={flags}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => setFlags(event.currentTarget.value)}
            />
            <Button type="submit" sends disabled={given.trim() === "" || current}>
              {t("convert")}
            </Button>
          </div>
        </form>
        {current && made.isFetching ? <Outlines count={6} height={19} label={t("converting")} /> : null}
        {current && made.error !== null ? (
          <Failed what={t("nothingWasConverted")} error={made.error} retry={() => void made.refetch()} small />
        ) : null}
        {result === undefined ? null : <Result made={result} />}
      </div>
      <footer className={drawer.footer}>
        <span className="faint">{t("oldTextStaysUntilUsed")}</span>
        <span className="grow" />
        <Button onClick={onClose}>{t("back")}</Button>
        <Button
          kind="primary"
          disabled={result === undefined}
          onClick={() => {
            if (result !== undefined) onUse(result.text);
          }}
        >
          {t("useThis")}
        </Button>
      </footer>
    </div>
  );
}

function Result({ made }: { made: Conversion }) {
  const of = (outcome: Finding["outcome"]) => made.findings.filter((one) => one.outcome === outcome);
  return (
    <div className={classes.result}>
      {made.errors.length === 0 ? null : (
        <div className={classes.refused} role="alert">
          <p>{t("convertedTextHasErrors")}</p>
          <ul>
            {made.errors.map((one) => (
              <li key={`${one.path} ${one.message}`}>
                {one.path === "" ? "" : <span className="mono">{one.path}</span>} {one.message}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Group title={t("findingsDropped")} kind="warn" findings={of("dropped")} />
      <Group title={t("findingsChanged")} kind="plain" findings={of("changed")} />
      <Group title={t("findingsCarried")} kind="ok" findings={of("carried")} />
      <h3 className={classes.lines}>
        {t("oldAndNewLines")} <DiffNumbers diff={made.diff} />
      </h3>
      <DiffView diff={made.diff} label={t("oldAndNewLines")} />
    </div>
  );
}

function Group({
  title,
  kind,
  findings,
}: {
  title: string;
  kind: "plain" | "warn" | "ok";
  findings: readonly Finding[];
}) {
  if (findings.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className={classes.group}>
        <Chip kind={kind}>{title}</Chip> <span className="faint num">{findings.length}</span>
      </h3>
      <ul className={classes.findings}>
        {findings.map((one, index) => (
          <li key={index}>
            <span className="faint num">{one.line === null ? "" : t("problemLineAlone", { line: one.line })}</span>
            <span>{one.sentence}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
