/** Of a fork: whose, from which step, and what was changed. Leads to the comparison of the two. */
import { Link } from "@tanstack/react-router";

import type { Run } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Icon } from "@/components/Icon";
import { rich, t } from "@/components/texts";

import classes from "./ForkBadge.module.css";

type Changes = Run["fork_changes"];

interface ForkBadgeProps {
  run: Pick<Run, "id" | "parent"> & { fork_changes?: Changes };
  /** Without the changes, where there is little room; the title has them. */
  short?: boolean;
  className?: string | undefined;
}

/** Nothing of a run that is no fork. */
export function ForkBadge({ run, short = false, className }: ForkBadgeProps) {
  const { me, visits } = useMe();
  if (run.parent === null) return null;
  const { id, number, position } = run.parent;
  const changes = run.fork_changes ?? [];
  const all = changes.map(({ workload, text }) => (workload === "" ? text : t("forkChangePlain", { workload, text })));
  const origin = id === null ? t("forkOfDeleted", { number, position }) : t("forkOfPlain", { number, position });
  const title = [origin, ...all].join("\n");
  const look = `${classes.badge} ${className ?? ""}`;
  const inside = (
    <>
      <Icon name="fork" size={12} />
      <span className={classes.text}>
        {rich("forkOf", { number, position, b: (words) => <b>{words}</b> })}
        {short ? null : <Changed changes={changes} />}
      </span>
    </>
  );
  const opens = id !== null && (!visits || me?.shared.some((one) => one.run === id) === true);
  if (id === null || !opens)
    return (
      <span className={look} title={title}>
        {inside}
      </span>
    );
  if (visits)
    return (
      <Link to="/runs/$run" params={{ run: id }} className={look} title={title}>
        {inside}
      </Link>
    );
  return (
    <Link to="/compare" search={{ a: id, b: run.id }} className={look} title={title}>
      {inside}
    </Link>
  );
}

function Changed({ changes }: { changes: Changes }) {
  const [first, ...others] = changes;
  if (first === undefined) return null;
  return (
    <>
      {" · "}
      {first.workload === ""
        ? first.text
        : rich("forkChange", { workload: first.workload, text: first.text, b: (words) => <b>{words}</b> })}
      {others.length === 0 ? null : t("forkMore", { count: others.length })}
    </>
  );
}
