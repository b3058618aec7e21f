import { Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";

import type { Snapshot } from "@/api/types";
import { useMe } from "@/api/useMe";
import { Button, IconButton } from "@/components/Button";
import { Chip } from "@/components/Chip";
import { count } from "@/format/number";
import { day, exact } from "@/format/time";
import { later } from "@/parts/later";

import classes from "./ClusterCard.module.css";
import { NodeBars } from "./NodeBars";
import { t } from "./texts";

const ClusterMenu = later(() => import("./ClusterMenu"));

interface ClusterCardProps {
  snapshot: Snapshot;
  now: number;
  primary: boolean;
  onRun: () => void;
}

export function ClusterCard({ snapshot, now, primary, onRun }: ClusterCardProps) {
  const { operates } = useMe();
  const [menu, setMenu] = useState(false);
  const { counts } = snapshot;
  const facts: [number, string][] = [
    [counts.nodes, t("count.nodes", { count: counts.nodes })],
    [counts.pods, t("count.pods", { count: counts.pods })],
    [counts.pending, t("count.pending")],
    [counts.gated, t("count.gated")],
    [counts.gpus, "GPU"],
    [counts.arrivals, t("count.arrive")],
  ];
  const more = (
    <IconButton
      icon="more"
      label={t("moreAbout", { name: snapshot.name })}
      className={classes.more ?? ""}
      aria-haspopup="menu"
      onClick={() => setMenu(true)}
    />
  );
  return (
    <li className={classes.card}>
      <div className={classes.head}>
        <Link
          to="/runs"
          search={{ snapshot: snapshot.id }}
          className="clip"
          title={t("runsOf", { name: snapshot.name })}
        >
          <b>{snapshot.name}</b>
        </Link>
        <Chip kind={snapshot.source === "sample" ? "plain" : "line"}>{t(`source.${snapshot.source}`)}</Chip>
        <span className="grow" />
        <span className="faint num" title={exact(snapshot.created_at)}>
          {snapshot.source === "sample" ? `v${snapshot.sample_version ?? 1}` : day(snapshot.created_at, now)}
        </span>
        {menu ? (
          <Suspense fallback={more}>
            <ClusterMenu snapshot={snapshot} />
          </Suspense>
        ) : (
          more
        )}
      </div>
      <p className="muted clip" title={snapshot.description}>
        {snapshot.description === ""
          ? t("nZonesNamespaces", {
              count: snapshot.bars.length,
              namespaces: t("nNamespaces", { count: counts.namespaces }),
            })
          : snapshot.description}
      </p>
      <NodeBars bars={snapshot.bars} />
      <div className={classes.foot}>
        {facts
          .filter(([value], index) => index < 2 || value > 0)
          .slice(0, 4)
          .map(([value, word]) => (
            <span key={word}>
              <b className="num">{count(value)}</b>
              {word}
            </span>
          ))}
        <span className="grow" />
        <Button
          size="sm"
          kind={primary ? "primary" : "default"}
          icon="play"
          onClick={onRun}
          disabled={!operates}
          title={operates ? t("runName", { name: snapshot.name }) : t("yourRoleCanLookBut")}
        >
          {t("run")}
          <span className="srOnly"> {snapshot.name}</span>
        </Button>
      </div>
    </li>
  );
}
