/** What a visitor sees around the pages of a run: the run of the link in the top bar, what this is, and nothing that is refused. */
import { Link, useLocation, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";

import type { Me } from "@/api/types";
import { ButtonLink } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Page } from "@/components/Panel";
import { runOf } from "@/rewind/moment";
import outcome from "@/shell/PageOutcome.module.css";

import classes from "./SharedRun.module.css";
import { t } from "./texts";

const BOTH_SIDES = ["a", "b"] as const;

/** In place of the pages. */
export function SharedRun({ me }: { me: Me }) {
  return (
    <>
      {me.shared.map((one) => (
        <Link key={one.run} to="/runs/$run" params={{ run: one.run }} title={t("sharedRun")}>
          {one.number}
        </Link>
      ))}
    </>
  );
}

/** The page that was asked for if the link is for it, else a word and the way to the run. */
export function SharedPages({ me, children }: { me: Me; children: ReactNode }) {
  const { pathname, search } = useLocation();
  const { run } = useParams({ strict: false });
  const shared = new Set(me.shared.map((one) => one.run));
  const asked =
    pathname === "/compare"
      ? BOTH_SIDES.map((side) => (search as Record<string, unknown>)[side])
      : [run === undefined ? undefined : runOf(run)];
  // Questions cost the host's time, so visitors ask none.
  const isQuestion = pathname.endsWith("/capacity") || pathname.endsWith("/operators");
  if (!isQuestion && asked.every((one) => typeof one === "string" && shared.has(one)))
    return (
      <>
        <SharedNote />
        {children}
      </>
    );
  return (
    <Page className={outcome.page ?? ""}>
      <h1>{t("onlyTheSharedRun")}</h1>
      <p className="muted">{t("theRestIsNotShared")}</p>
      <div className="row">
        {me.shared.map((one) => (
          <ButtonLink key={one.run} to="/runs/$run" params={{ run: one.run }} kind="primary">
            {t("openShared", { name: one.number })}
          </ButtonLink>
        ))}
      </div>
    </Page>
  );
}

function SharedNote() {
  return (
    <p className={classes.note} role="note">
      <Icon name="eye" size={14} />
      {t("youLookAtASharedRun")}
    </p>
  );
}
