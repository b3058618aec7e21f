/** The frame around every page: top bar, search, keys, live connection, toasts. */
import { useQuery } from "@tanstack/react-query";
import { Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { type ReactNode, Suspense, useCallback, useEffect, useState } from "react";

import { ApiError, setRefusal } from "@/api/client";
import { meQuery } from "@/api/queries";
import { schedulesQuery } from "@/api/scheduling";
import { queryClient } from "@/app/queryClient";
import { Failed } from "@/components/Outcome";
import { ApprovalToast } from "@/decisions/ApprovalToast";
import { SharedPages } from "@/exchange/SharedRun";
import { useKeyboard, useKeys } from "@/keys/useKeys";
import { startLive } from "@/live/live";
import { refusal } from "@/live/reach";
import { later } from "@/parts/later";
import { runOf } from "@/rewind/moment";

import { NoticesPlace } from "./NoticesPlace";
import { SignedOut } from "./PageOutcome";
import { PageLive } from "./pageLive";
import classes from "./Shell.module.css";
import { StorageTrouble } from "./StorageTrouble";
import { t } from "./texts";
import { TopBar } from "./TopBar";
import { useTypeAhead } from "./useTypeAhead";

const LiveBand = later(async () => ({ default: (await import("@/scheduling/LiveBand")).LiveBand }));
const Search = later(() => import("./Search"));
const KeysOverlay = later(() => import("./KeysOverlay"));

export function Shell() {
  const me = useQuery(meQuery);
  const navigate = useNavigate();
  const [searching, setSearching] = useState<"never" | "open" | "closed">("never");
  const [keysShown, setKeysShown] = useState(false);
  const signedIn = me.data !== undefined;

  useEffect(() => {
    if (!signedIn) return undefined;
    setRefusal(refusal);
    return startLive(queryClient);
  }, [signedIn]);

  useKeyboard();
  const openSearch = () => setSearching("open");
  const closeSearch = useCallback(() => setSearching("closed"), []);
  const visits = me.data?.role === "visitor";
  useKeys([{ keys: "?", label: t("allKeys"), group: t("everywhere"), run: () => setKeysShown(true) }]);
  // A visitor has one run: what leads elsewhere would be refused.
  useKeys(
    visits
      ? []
      : [
          { keys: "/", label: t("search"), group: t("everywhere"), run: openSearch },
          { keys: "Ctrl+k", label: t("search"), group: t("everywhere"), run: openSearch, everywhere: true },
          { keys: "g h", label: t("home"), group: t("goTo"), run: () => void navigate({ to: "/" }) },
          { keys: "g r", label: t("runs"), group: t("goTo"), run: () => void navigate({ to: "/runs" }) },
          { keys: "g w", label: t("waiting"), group: t("goTo"), run: () => void navigate({ to: "/waiting" }) },
          {
            keys: "g c",
            label: t("configurations"),
            group: t("goTo"),
            run: () => void navigate({ to: "/configurations" }),
          },
        ],
  );

  if (me.error instanceof ApiError && (me.error.status === 401 || me.error.status === 403))
    return <SignedOut reason={me.error.status === 403 ? me.error.message : null} />;
  return (
    <>
      <a className={classes.skip} href="#main">
        {t("skipToThePage")}
      </a>
      <TopBar me={me.data} onSearch={openSearch} onKeys={() => setKeysShown(true)} />
      {signedIn ? <StorageTrouble /> : null}
      <main id="main" className={classes.main} tabIndex={-1}>
        {me.error !== null && me.data === undefined ? (
          <Failed what={t("theServerDoesNotAnswer")} error={me.error} retry={() => void me.refetch()} />
        ) : null}
        {signedIn && !visits ? <RunBand /> : null}
        {me.data === undefined ? null : visits ? (
          <SharedPages me={me.data}>
            <Outlet />
          </SharedPages>
        ) : (
          <Outlet />
        )}
      </main>
      <ApprovalToast />
      <PageLive />
      <NoticesPlace />
      <Suspense fallback={null}>{keysShown ? <KeysOverlay onClose={() => setKeysShown(false)} /> : null}</Suspense>
      {searching === "never" ? null : <Searching opened={searching === "open"} onClose={closeSearch} />}
    </>
  );
}

/** On all pages of a run that schedules a real cluster. (Its type is said, for the router's is made from this component's.) */
function RunBand(): ReactNode {
  const { run } = useParams({ strict: false });
  const id = run === undefined ? "" : runOf(run);
  const { data } = useQuery({ ...schedulesQuery(id), enabled: id !== "" });
  return <Suspense fallback={null}>{data === true ? <LiveBand key={id} run={id} /> : null}</Suspense>;
}

/** What is typed concerns nothing but the search, so the frame does not hold it. */
function Searching({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const [query, setQuery] = useState("");
  useTypeAhead(opened, setQuery, onClose);
  return (
    <Suspense fallback={null}>
      <Search opened={opened} query={query} onQuery={setQuery} onClose={onClose} />
    </Suspense>
  );
}
