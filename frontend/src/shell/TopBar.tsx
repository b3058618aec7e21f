import { useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { waitingCountQuery } from "@/api/queries";
import type { Me } from "@/api/types";
import { IconButton } from "@/components/Button";
import { Pill } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { count } from "@/format/number";
import { SharedRun } from "@/exchange/SharedRun";
import { NEXT_SCHEME } from "@/theme/colorScheme";

import { ConnectionState } from "./ConnectionState";
import { LanguagePicker } from "./LanguagePicker";
import { t } from "./texts";
import classes from "./TopBar.module.css";

interface TopBarProps {
  me: Me | undefined;
  onSearch: () => void;
  onKeys: () => void;
}

const SCHEME_ICONS = { light: "sun", dark: "moon", auto: "system" } as const;

export function TopBar({ me, onSearch, onKeys }: TopBarProps) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [menu, setMenu] = useState(false);
  return (
    <header className={classes.bar}>
      <Brand shared={me?.role === "visitor" ? me.shared[0]?.run : undefined} />
      {/* Following a link is a way out of the menu; the links themselves carry the meaning and the keyboard. */}
      <nav
        className={classes.nav}
        aria-label={t("main")}
        data-open={menu}
        onClickCapture={(event) => (event.target as Element).closest("a") === null || setMenu(false)}
      >
        {me?.role === "visitor" ? (
          <SharedRun me={me} />
        ) : (
          <>
            <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
              {t("home")}
            </Link>
            <Link to="/runs">{t("runs")}</Link>
            <Link to="/waiting">
              {t("waiting")}
              {me === undefined ? null : <WaitingPill />}
            </Link>
            <Link to="/configurations">{t("configurations")}</Link>
            <Link to="/sessions" className="onlyPhone">
              {t("yourAccount")}
            </Link>
          </>
        )}
        <LanguagePicker className="onlyPhone" />
      </nav>
      <span className={`${classes.gap} grow`} />
      {me?.role === "visitor" ? null : (
        <button
          type="button"
          className={classes.search}
          onClick={onSearch}
          aria-label={t("findPodsNodesRuns")}
          title={t("findPodsNodesRuns")}
          aria-keyshortcuts="/ Control+K"
        >
          <Icon name="search" size={14} />
          <span>{t("findPodsNodesRuns")}</span>
          <kbd aria-hidden="true">/</kbd>
        </button>
      )}
      <ConnectionState />
      <IconButton icon="help" label={t("keysHint")} className={`${classes.help} hidePhone`} onClick={onKeys} />
      <LanguagePicker className="hidePhone" />
      <IconButton
        icon={SCHEME_ICONS[colorScheme]}
        label={t("themeIs", { scheme: t(`scheme.${colorScheme}`), next: t(`scheme.${NEXT_SCHEME[colorScheme]}`) })}
        onClick={() => setColorScheme(NEXT_SCHEME[colorScheme])}
      />
      {me === undefined || me.role === "visitor" ? null : (
        <Link
          to="/sessions"
          className={`${classes.user} hidePhone`}
          title={`${me.username}, ${t(`role.${me.role}`)}: ${t("yourAccount")}`}
        >
          <span className="srOnly">
            {t("signedInAs", { username: me.username, role: t(`role.${me.role}`) })} {t("yourAccount")}
          </span>
          <span aria-hidden="true">{me.initials}</span>
        </Link>
      )}
      <IconButton
        icon="menu"
        label={t("menu")}
        className="onlyPhone"
        aria-expanded={menu}
        onClick={() => setMenu(!menu)}
      />
    </header>
  );
}

/** Of a visitor, whose pages are those of a run, it leads to the run. */
function Brand({ shared }: { shared: string | undefined }) {
  const inside = (
    <>
      <Mark />
      <span>Scheduling Playground</span>
    </>
  );
  return shared === undefined ? (
    <Link to="/" className={classes.brand}>
      {inside}
    </Link>
  ) : (
    <Link to="/runs/$run" params={{ run: shared }} className={classes.brand} activeProps={{}}>
      {inside}
    </Link>
  );
}

function WaitingPill() {
  const { data } = useQuery(waitingCountQuery);
  const total = data === undefined ? 0 : data.count + data.evictions;
  if (data === undefined || total === 0) return null;
  const title = [
    data.count === 0 ? "" : t("podsWait", { count: data.count, person: data.person }),
    data.evictions === 0 ? "" : t("evictionsWait", { count: data.evictions }),
  ];
  return <Pill title={title.filter(Boolean).join("\n")}>{count(total)}</Pill>;
}

function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true" className={classes.mark}>
      <rect x="1" y="3" width="9" height="4" rx="1.3" fill="var(--st-active)" />
      <rect x="1" y="9" width="14" height="4" rx="1.3" fill="var(--st-permit)" />
      <rect x="1" y="15" width="6" height="4" rx="1.3" fill="var(--c-text-3)" />
      <path
        d="M17.2 2v18M13.5 16.5l3.7 3.7 3.7-3.7"
        fill="none"
        stroke="var(--st-bound)"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
