import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { memo, useRef, useState } from "react";

import { fetchFeed } from "@/api/queries";
import type { FeedItem, FeedPart } from "@/api/types";
import { Button } from "@/components/Button";
import { PodName } from "@/components/Chip";
import { Icon, type IconName } from "@/components/Icon";
import { Empty, Failed, Outlines } from "@/components/Outcome";
import { ScrollRegion } from "@/components/ScrollRegion";
import { exact, runTime } from "@/format/time";
import type { FeedView, RunStore } from "@/live/runStore";

import { useHeld, useInside } from "../held";
import { SelectLink } from "../SelectLink";
import { t } from "../texts";
import { useGrowing } from "../useGrowing";
import classes from "./ActivityFeed.module.css";

const FIRST_ROWS = 10;
/** As rows of one and of two lines are high. */
const ROW = 36;
const route = getRouteApi("/runs/$run");
const ICONS: Record<FeedItem["kind"], IconName> = {
  bound: "bound",
  attempt: "in_flight",
  waiting: "waiting",
  unschedulable: "unschedulable",
  queue: "active",
  backoff: "backoff",
  decision: "person",
  command: "command",
  node: "node",
  engine: "info",
  preemption: "bolt",
};

interface ActivityFeedProps {
  run: string;
  /** What stands there before anything has happened. */
  nothing: string;
  store: RunStore;
  feed: FeedView;
  held: boolean;
  filtering: boolean;
  onFiltering: (on: boolean) => void;
  onHold: (held: boolean) => void;
}

export const ActivityFeed = memo(function ActivityFeed({
  run,
  nothing,
  store,
  feed,
  held,
  filtering,
  onFiltering,
  onHold,
}: ActivityFeedProps) {
  const filter = route.useSearch({ select: (search) => search.feed });
  const navigate = useNavigate({ from: "/runs/$run" });
  const [scrolled, setScrolled] = useState(false);
  const [inside, handlers] = useInside();
  const list = useRef<HTMLOListElement>(null);
  const about = filter === undefined ? undefined : filter.includes("/") ? { pod: filter } : { node: filter };
  // The newest id is part of the key: what is new to the run may be new to the filter.
  const newest = feed.items[0]?.id ?? 0;
  const filtered = useQuery({
    queryKey: ["run", run, "feed", about, Math.floor(newest / 20)],
    queryFn: ({ signal }) => fetchFeed(run, about, undefined, signal),
    enabled: about !== undefined,
    placeholderData: (old) => old,
  });
  const live = about === undefined ? feed.items : (filtered.data ?? []);
  const items = useHeld(live, held || inside || scrolled);
  const { made, rest, onScroll } = useGrowing(items.length, FIRST_ROWS);
  const isWhole = made === items.length;
  const shownNewest = items[0]?.id ?? 0;
  const fresh = live.filter((item) => item.id > shownNewest).length;
  const status =
    about === undefined ? feed.status : filtered.isPending ? "loading" : filtered.error === null ? "ready" : "failed";
  return (
    <>
      {filtering || filter !== undefined ? (
        <form
          className={classes.filter}
          onSubmit={(event) => {
            event.preventDefault();
            const value = new FormData(event.currentTarget).get("about");
            const text = typeof value === "string" ? value.trim() : "";
            void navigate({ search: (old) => ({ ...old, feed: text === "" ? undefined : text }), replace: true });
          }}
        >
          <input
            name="about"
            type="search"
            defaultValue={filter ?? ""}
            placeholder={t("namespacePodOrNode")}
            aria-label={t("showWhatConcernsThisPod")}
          />
          <Button size="sm" type="submit">
            {t("show")}
          </Button>
          <Button
            size="sm"
            kind="ghost"
            onClick={() => {
              onFiltering(false);
              void navigate({ search: (old) => ({ ...old, feed: undefined }), replace: true });
            }}
          >
            {t("showAll")}
          </Button>
        </form>
      ) : null}
      {status === "loading" && items.length === 0 ? (
        <Outlines count={6} height={34} label={t("readingTheActivity")} />
      ) : null}
      {status === "failed" ? (
        <Failed
          what={t("theActivityCouldNotBe")}
          retryLabel={t("readAgain")}
          retry={() => void (about === undefined ? store.loadFeed() : filtered.refetch())}
        />
      ) : null}
      {status === "ready" && items.length === 0 ? (
        <Empty>{filter === undefined ? nothing : t("nothingConcerns", { filter })}</Empty>
      ) : null}
      <ScrollRegion
        as="ol"
        ref={list}
        className={classes.list}
        label={t("whatHappenedNewestFirst")}
        {...handlers}
        onScroll={(event) => {
          setScrolled(event.currentTarget.scrollTop > 8);
          onScroll(event);
        }}
      >
        {items.slice(0, made).map((item, index) => (
          <li
            key={item.id}
            data-newest={index === 0 && item.highlight === true}
            className={classes.row}
            {...(isWhole ? {} : { "aria-posinset": index + 1, "aria-setsize": items.length })}
          >
            <FeedRow item={item} sameMinute={sameMinute(items[index - 1], item)} />
          </li>
        ))}
        {isWhole ? null : <li ref={rest} aria-hidden="true" style={{ height: (items.length - made) * ROW }} />}
        {isWhole && about === undefined && feed.more && items.length > 0 ? (
          <li className={classes.older}>
            <Button size="sm" kind="ghost" onClick={() => void store.loadOlderFeed()}>
              {t("older")}
            </Button>
          </li>
        ) : null}
      </ScrollRegion>
      {/* It floats, so that what is read stays where it is. */}
      {fresh > 0 ? (
        <Button
          size="sm"
          className={classes.fresh ?? ""}
          onClick={() => {
            onHold(false);
            list.current?.scrollTo({ top: 0 });
            setScrolled(false);
          }}
        >
          {t("freshNew", { fresh })}
        </Button>
      ) : null}
    </>
  );
});

/** Within one minute the hours are not repeated: 10:01:22.418, then 22.391. */
function sameMinute(before: FeedItem | undefined, item: FeedItem): boolean {
  return before?.at.slice(0, 16) === item.at.slice(0, 16);
}

const FeedRow = memo(function FeedRow({ item, sameMinute: short }: { item: FeedItem; sameMinute: boolean }) {
  const time = runTime(item.at);
  return (
    <>
      <time dateTime={item.at} title={exact(item.at)}>
        {short ? time.slice(6) : time}
      </time>
      <span className={item.state ? `${classes.icon} st-${item.state}` : classes.icon}>
        <Icon name={ICONS[item.kind]} size={13} />
      </span>
      <p>
        {item.parts.map((part, index) => (
          <Part key={index} part={part} item={item} index={index} />
        ))}
      </p>
    </>
  );
});

function Part({ part, item, index }: { part: FeedPart; item: FeedItem; index: number }) {
  if (part.t === "pod") {
    const pod = item.pods.find((one) => `${one.namespace}/${one.name}` === part.v);
    if (pod === undefined) return <b>{part.v}</b>;
    return (
      <SelectLink pod={part.v} node={null} className={classes.pod}>
        <PodName pod={pod} />
      </SelectLink>
    );
  }
  if (part.t === "node") {
    return (
      <SelectLink node={part.v} className="mono">
        {part.v}
      </SelectLink>
    );
  }
  if (part.t === "num") return <span className="num">{part.v}</span>;
  if (part.t === "workload") return <b>{part.v}</b>;
  // After the first sentence comes the why, which is quieter.
  const cut = index === 0 ? -1 : part.v.indexOf(". ");
  if (cut < 0 || cut + 2 >= part.v.length) return part.v;
  return (
    <>
      {part.v.slice(0, cut + 1)} <span className="faint">{part.v.slice(cut + 2)}</span>
    </>
  );
}
