import { useMantineColorScheme } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { waitingCountQuery } from "@/api/queries";
import type { Me } from "@/api/types";
import { IconButton } from "@/components/Button";
import { Pill } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { count, counted } from "@/format/number";
import { NEXT_SCHEME } from "@/theme/colorScheme";

import { ConnectionState } from "./ConnectionState";
import classes from "./TopBar.module.css";

interface TopBarProps {
  me: Me | undefined;
  onSearch: () => void;
  onKeys: () => void;
}

const SCHEME_ICONS = { light: "sun", dark: "moon", auto: "system" } as const;
const SCHEME_WORDS = { light: "light", dark: "dark", auto: "system" } as const;

export function TopBar({ me, onSearch, onKeys }: TopBarProps) {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [menu, setMenu] = useState(false);
  return (
    <header className={classes.bar}>
      <Link to="/" className={classes.brand}>
        <Mark />
        <span>Scheduling Playground</span>
      </Link>
      {/* A click inside is a way out of the menu; the links themselves carry the meaning and the keyboard. */}
      <nav className={classes.nav} aria-label="Main" data-open={menu} onClickCapture={() => setMenu(false)}>
        <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>Home</Link>
        <Link to="/runs">Runs</Link>
        <Link to="/waiting">Waiting{me === undefined ? null : <WaitingPill />}</Link>
        <Link to="/configurations">Configurations</Link>
      </nav>
      <span className={`${classes.gap} grow`} />
      <button type="button" className={classes.search} onClick={onSearch} aria-keyshortcuts="/ Control+K">
        <Icon name="search" size={14} />
        <span>Find pods, nodes, runs</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <ConnectionState />
      <IconButton icon="help" label="Keys (?)" className="hidePhone" onClick={onKeys} />
      <IconButton icon={SCHEME_ICONS[colorScheme]}
        label={`Theme: ${SCHEME_WORDS[colorScheme]}. Change to ${SCHEME_WORDS[NEXT_SCHEME[colorScheme]]}`}
        onClick={() => setColorScheme(NEXT_SCHEME[colorScheme])} />
      {me === undefined ? null : (
        <span className={`${classes.user} hidePhone`} title={`${me.username}, ${me.role}`}>
          <span className="srOnly">Signed in as {me.username}, {me.role}. </span>
          <span aria-hidden="true">{me.initials}</span>
        </span>
      )}
      <IconButton icon="active" label="Menu" className="onlyPhone" aria-expanded={menu} onClick={() => setMenu(!menu)} />
    </header>
  );
}

function WaitingPill() {
  const { data } = useQuery(waitingCountQuery);
  if (data === undefined || data.count === 0) return null;
  return <Pill title={`${counted(data.count, "pod waits", "pods wait")} on Permit, ${count(data.person)} for a person`}>{count(data.count)}</Pill>;
}

function Mark() {
  return (
    <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true" className={classes.mark}>
      <rect x="1" y="3" width="9" height="4" rx="1.3" fill="var(--st-active)" />
      <rect x="1" y="9" width="14" height="4" rx="1.3" fill="var(--st-permit)" />
      <rect x="1" y="15" width="6" height="4" rx="1.3" fill="var(--c-text-3)" />
      <path d="M17.2 2v18M13.5 16.5l3.7 3.7 3.7-3.7" fill="none" stroke="var(--st-bound)" strokeWidth="2" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
