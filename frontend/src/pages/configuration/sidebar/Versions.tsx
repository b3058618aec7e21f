/** The timeline: the draft on top, then what was saved, by whom, with what comment, and how many runs used it. */
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import { VERSIONS_SHOWN, versionsQuery } from "@/api/configurationQueries";
import { useMe } from "@/api/useMe";
import { exact } from "@/format/time";
import { later } from "@/parts/later";

import { useEditing } from "../draft/editing";
import { t } from "../texts";
import { changesCount, versionNote } from "../words";
import classes from "./Sidebar.module.css";

const VersionDrawer = later(() => import("./VersionDrawer"));
const route = getRouteApi("/configurations/$configuration");
const MOST = 200;

export function Versions() {
  const { configuration } = route.useParams();
  const { version: viewed } = route.useSearch();
  const { store, state, changes, examination } = useEditing();
  const { me } = useMe();
  const [all, setAll] = useState(false);
  const [opened, setOpened] = useState<number | null>(null);
  const versions = useQuery(versionsQuery(configuration, all ? MOST : VERSIONS_SHOWN));
  const older = (versions.data?.count ?? 0) - (versions.data?.results.length ?? 0);
  const draft = viewed === undefined && store.dirty;
  return (
    <>
      <h2>{t("versions")}</h2>
      <ol className={classes.versions}>
        {draft ? (
          <li data-draft="">
            <button type="button" onClick={() => undefined} aria-current="true">
              <b>{t("draft")}</b>
              <em>
                {examination.effective === null
                  ? t("draftUnreadableNotSaved")
                  : changesCount(changes) === 0
                    ? t("draftWithoutEffectNotSaved")
                    : t("draftChangesNotSaved", { count: changesCount(changes) })}
              </em>
            </button>
            <div className={classes.draftActions}>
              <button type="button" className="leads" disabled={!state.canUndo} onClick={() => store.undo()}>
                {t("undo")}
              </button>
              <button type="button" className="leads" onClick={() => store.discard()}>
                {t("discard")}
              </button>
            </div>
          </li>
        ) : null}
        {versions.data?.results.map((version, index) => (
          <li
            key={version.number}
            {...(viewed === version.number || (viewed === undefined && !draft && version.number === state.base)
              ? { "data-on": "" }
              : {})}
          >
            <Link
              from="/configurations/$configuration"
              title={exact(version.created_at)}
              search={(old) => (index === 0 ? dropVersion(old) : { ...old, version: version.number })}
            >
              <b className="num">{t("vNumber", { number: version.number })}</b>
              <em>{versionNote(version, me?.username, versions.dataUpdatedAt)}</em>
              {version.comment === "" ? null : <q>{version.comment}</q>}
            </Link>
            {version.number === 1 ? null : (
              <button
                type="button"
                className={`leads ${classes.what}`}
                aria-haspopup="dialog"
                onClick={() => setOpened(version.number)}
              >
                {t("whatChanged")}
                <span className="srOnly"> {t("inVersion", { number: version.number })}</span>
              </button>
            )}
          </li>
        ))}
        {older > 0 ? (
          <li data-more="">
            <button type="button" className="muted" onClick={() => setAll(true)}>
              <span className="leads">{t("olderOlder", { older })}</span>
            </button>
          </li>
        ) : null}
      </ol>
      <Suspense fallback={null}>
        {opened === null ? null : (
          <VersionDrawer configuration={configuration} number={opened} onClose={() => setOpened(null)} />
        )}
      </Suspense>
    </>
  );
}

function dropVersion<T extends { version?: number | undefined }>({ version: _, ...rest }: T): Omit<T, "version"> {
  return rest;
}
