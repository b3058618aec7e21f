/** Nodes that one plugin refused for one reason: the nearest as meters, the rest as lines, all of them window by window. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";

import { filterQuery } from "@/api/podQueries";
import type { FilterGroup, FilterNode, NodeAmount } from "@/api/podTypes";
import { Button } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { listed } from "@/format/lists";
import { count } from "@/format/number";
import { amount } from "@/format/resources";

import { t } from "../texts";
import { freeOf, isAboutRoom, kindsOf, nameRange, nearestText, resourceName, telling } from "./amounts";
import classes from "./FilterGroupBlock.module.css";
import { ResourceMeter } from "./ResourceMeter";

const METERS = 3;
const WINDOW = 200;
const FEW = 4;

interface GroupProps {
  run: string;
  attempt: number;
  group: FilterGroup;
  index: number;
  q: string;
  opened: boolean;
}

export function FilterGroupBlock({ run, attempt, group, index, q, opened }: GroupProps) {
  const [open, setOpen] = useState(opened);
  const body = useId();
  return (
    <section className={classes.group}>
      <h4>
        <button
          type="button"
          className={classes.summary}
          aria-expanded={open}
          aria-controls={body}
          onClick={() => setOpen(!open)}
        >
          <Icon name="chevronRight" size={13} className={classes.chevron} />
          <b className={`${classes.count} num`}>{count(group.count)}</b>
          <span className={classes.text}>{group.text === "" ? group.code : group.text}</span>
          <Chip>{group.plugin}</Chip>
          {group.can_become_free ? (
            <span className={classes.can} title={t("unschedulablePreemptionOrAnotherPods")}>
              {t("canBecomeFree")}
            </span>
          ) : !isAboutRoom(group) ? null : (
            <span className={classes.never} title={t("unschedulableAndUnresolvableNoPodThatGoes")}>
              {t("neverOnThisNode")}
            </span>
          )}
          <span className="grow" />
          <span className={classes.nearest}>{nearestText(group)}</span>
        </button>
      </h4>
      <div id={body} hidden={!open} className={classes.body}>
        {open ? <Nodes run={run} attempt={attempt} group={group} index={index} q={q} /> : null}
      </div>
    </section>
  );
}

function Nodes({ run, attempt, group, index, q }: Omit<GroupProps, "opened">) {
  const lacks = isAboutRoom(group);
  const [windows, setWindows] = useState(
    group.count <= group.nodes.length ? 0 : group.can_become_free && lacks ? 0 : 1,
  );
  const limit = windows * WINDOW;
  // The groups are numbered as they are without a node filter, so a filtered group is read whole from what it came with.
  const more = useQuery({
    ...filterQuery(run, attempt, { group: index, limit: Math.min(limit, WINDOW), offset: 0 }),
    enabled: windows > 0 && q === "",
  });
  const nodes =
    windows > 0 && more.data !== undefined && more.data.nodes.length >= group.nodes.length
      ? more.data.nodes
      : group.nodes;
  const later = windows > 1 ? Array.from({ length: windows - 1 }, (_, each) => (each + 1) * WINDOW) : [];
  const shownOf = Math.min(group.count, Math.max(nodes.length, limit));
  const left = q === "" ? group.count - shownOf : 0;
  return (
    <>
      {lacks ? (
        group.can_become_free ? (
          <Near run={run} nodes={nodes} />
        ) : (
          <Kinds run={run} nodes={nodes} />
        )
      ) : (
        <>
          <p className="muted">{t("firstToRefuse", { count: group.count, plugin: group.plugin })}</p>
          <AmountTable run={run} nodes={nodes} />
        </>
      )}
      {later.map((offset) => (
        <Later key={offset} run={run} attempt={attempt} index={index} offset={offset} />
      ))}
      {more.error === null ? null : (
        <Failed small what={t("moreNodesCouldNotBe")} error={more.error} retry={() => void more.refetch()} />
      )}
      {left > 0 ? (
        <p className={classes.more}>
          <Button size="sm" onClick={() => setWindows(windows + 1)}>
            {left > WINDOW ? t("moreOf", { WINDOW, left }) : t("moreNodes", { count: left })}
          </Button>
        </p>
      ) : null}
      {q !== "" && group.count > group.nodes.length ? (
        <p className={classes.more}>
          <span className="faint">{t("theNearestOfThatMatch", { nodes: group.nodes.length, n: group.count })}</span>
        </p>
      ) : null}
    </>
  );
}

function Later({ run, attempt, index, offset }: { run: string; attempt: number; index: number; offset: number }) {
  const answer = useQuery(filterQuery(run, attempt, { group: index, offset, limit: WINDOW }));
  if (answer.data === undefined)
    return answer.error === null ? (
      <p className={classes.more}>
        <span className="faint">{t("reading")}</span>
      </p>
    ) : (
      <Failed small what={t("moreNodesCouldNotBe")} error={answer.error} retry={() => void answer.refetch()} />
    );
  return <NameLinks run={run} nodes={answer.data.nodes} />;
}

function NodeLink({ run, name }: { run: string; name: string }) {
  return (
    <Link className="mono leads" to="/runs/$run" params={{ run }} search={{ node: name }}>
      {name}
    </Link>
  );
}

function Near({ run, nodes }: { run: string; nodes: readonly FilterNode[] }) {
  const rest = nodes.slice(METERS);
  return (
    <>
      {nodes.slice(0, METERS).map((node) => (
        <div key={node.name} className={classes.node}>
          <div className={classes.nodeHead}>
            <NodeLink run={run} name={node.name} />
            <span className="faint">{[node.zone, node.type].filter(Boolean).join(" · ")}</span>
          </div>
          <div className={classes.meters}>
            <div>
              {telling(node.resources)
                .sort((a, b) => b.short / b.wanted - a.short / a.wanted)
                .map((one) => (
                  <ResourceMeter key={one.name} of={one} />
                ))}
            </div>
            {node.note === undefined ? null : <p className={classes.note}>{node.note}</p>}
          </div>
        </div>
      ))}
      {rest.length === 0 ? null : <AmountTable run={run} nodes={rest} />}
    </>
  );
}

/** Free of what every node has, what is short in red, and what of the node was refused where that is known. */
function AmountTable({ run, nodes }: { run: string; nodes: readonly FilterNode[] }) {
  const remarked = nodes.some((node) => (node.remark ?? node.note) !== undefined);
  const names = new Set(nodes.flatMap((node) => telling(node.resources)).map((one) => one.name));
  const shown = (all: readonly NodeAmount[]) => all.filter((one) => names.has(one.name));
  const resources = shown(nodes[0]?.resources ?? []);
  return (
    <div className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>{t("node")}</th>
            <th>{t("type")}</th>
            {remarked ? <th>{t("remark")}</th> : null}
            {resources.map((one) => (
              <th key={one.name} className={classes.number}>
                {t("freeResourceName", { resourceName: resourceName(one.name) })}
              </th>
            ))}
            <th className={classes.number}>{t("shortOf")}</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => (
            <tr key={node.name}>
              <td>
                <NodeLink run={run} name={node.name} />
              </td>
              <td>{node.type}</td>
              {remarked ? <td>{node.remark ?? node.note}</td> : null}
              {shown(node.resources).map((one) => (
                <AmountCell key={one.name} one={one} />
              ))}
              <td className={classes.number}>
                {listed(
                  node.resources
                    .filter((one) => one.short > 0)
                    .map((one) => `${amount(one.name, one.short)} ${resourceName(one.name)}`),
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AmountCell({ one }: { one: NodeAmount }) {
  const { free, of } = freeOf(one);
  const say = (value: number) => amount(one.name, value);
  const whole = t("requestedOfAllocatableFreeNeeded", {
    label: resourceName(one.name),
    say: say(one.requested),
    say2: say(one.allocatable),
    say3: say(Math.max(0, one.free)),
    say4: say(one.wanted),
  });
  return (
    <td className={classes.number} data-short={one.short > 0 || undefined} title={whole}>
      {t("freeOfAll", { free, of })}
    </td>
  );
}

/** Nodes that are too small whatever leaves them: their size is what matters, so nodes of one size are one line. */
function Kinds({ run, nodes }: { run: string; nodes: readonly FilterNode[] }) {
  const kinds = kindsOf(nodes);
  const lacking = new Set(
    nodes.flatMap((node) => node.resources.filter((one) => one.short > 0).map((one) => one.name)),
  );
  const [only] = lacking;
  if (nodes.length <= FEW && lacking.size === 1 && only !== undefined)
    return <Few run={run} nodes={nodes} resource={only} />;
  const names = new Set(nodes.flatMap((node) => telling(node.resources)).map((one) => one.name));
  const shown = (all: readonly NodeAmount[]) => all.filter((one) => names.has(one.name));
  const resources = shown(nodes[0]?.resources ?? []);
  return (
    <div className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>{nodes.length === 1 ? t("node") : t("nodes")}</th>
            <th>{t("type")}</th>
            {resources.map((one, index) => (
              <th key={one.name} className={classes.number}>
                {index === 0
                  ? t("allocatableResourceName", { resourceName: resourceName(one.name) })
                  : resourceName(one.name)}
              </th>
            ))}
            <th>{t("shortOf")}</th>
          </tr>
        </thead>
        <tbody>
          {kinds.map((kind) => (
            <KindRow key={kind.nodes[0]?.name} run={run} kind={kind} resources={shown(kind.resources)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Few({ run, nodes, resource }: { run: string; nodes: readonly FilterNode[]; resource: string }) {
  return (
    <div className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th>{t("node")}</th>
            <th>{t("type")}</th>
            <th className={classes.number}>{t("allocatableResourceName", { resourceName: resourceName(resource) })}</th>
            <th className={classes.number}>{t("requested")}</th>
            <th className={classes.number}>{t("free")}</th>
            <th className={classes.number}>{t("needs")}</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node) => {
            const one = node.resources.find((each) => each.name === resource);
            return one === undefined ? null : (
              <tr key={node.name}>
                <td>
                  <NodeLink run={run} name={node.name} />
                </td>
                <td>{node.type}</td>
                <td className={classes.number} data-short={one.allocatable < one.wanted || undefined}>
                  {amount(resource, one.allocatable)}
                </td>
                <td className={classes.number}>{amount(resource, one.requested)}</td>
                <td className={classes.number}>{amount(resource, Math.max(0, one.free))}</td>
                <td className={classes.number}>{amount(resource, one.wanted)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function KindRow({
  run,
  kind,
  resources,
}: {
  run: string;
  kind: ReturnType<typeof kindsOf>[number];
  resources: readonly NodeAmount[];
}) {
  const [open, setOpen] = useState(false);
  const names = kind.nodes.map((node) => node.name);
  const first = names[0] ?? "";
  return (
    <>
      <tr>
        <td>
          {names.length === 1 ? (
            <NodeLink run={run} name={first} />
          ) : (
            <>
              <button
                type="button"
                className={`leads ${classes.expand}`}
                aria-expanded={open}
                onClick={() => setOpen(!open)}
              >
                {t("nNodes", { count: names.length })}
              </button>{" "}
              <span className="mono">{nameRange(names)}</span>
            </>
          )}
        </td>
        <td>{kind.type}</td>
        {resources.map((one) => (
          <td key={one.name} className={classes.number} data-short={one.allocatable < one.wanted || undefined}>
            {amount(one.name, one.allocatable)}
          </td>
        ))}
        <td>{listed(kind.resources.filter((one) => one.short > 0).map((one) => resourceName(one.name)))}</td>
      </tr>
      {open ? (
        <tr>
          <td colSpan={resources.length + 3}>
            <NameLinks run={run} nodes={kind.nodes} />
          </td>
        </tr>
      ) : null}
    </>
  );
}

function NameLinks({ run, nodes }: { run: string; nodes: readonly FilterNode[] }) {
  return (
    <ul className={classes.names}>
      {nodes.map((node) => (
        <li key={node.name} title={[node.zone, node.type].filter(Boolean).join(" · ")}>
          <NodeLink run={run} name={node.name} />
        </li>
      ))}
    </ul>
  );
}
