/** Tries a stored configuration beside the cluster's own scheduler: a followed run that decides as well, and writes nothing. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { ClusterDetails, ShadowWay } from "@/api/clusters";
import { configurationsQuery } from "@/api/queries";
import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { Megabytes, megabytesIn } from "@/components/Megabytes";
import { Failed } from "@/components/Outcome";
import { Panel, PanelHeader } from "@/components/Panel";

import classes from "./Clusters.module.css";
import { t } from "./texts";
import { useFollow } from "./useFollow";

/** In minutes; 0: nothing ends it but a person. */
const DURATIONS = [60, 480, 1440, 10080, 0] as const;
const A_DAY = 1440;
const WAYS: readonly ShadowWay[] = ["step_by_step", "on_its_own"];

export function Shadow({ cluster }: { cluster: ClusterDetails }) {
  const { operates } = useMe();
  const configurations = useQuery(configurationsQuery());
  const [chosen, setChosen] = useState("");
  const [way, setWay] = useState<ShadowWay>("step_by_step");
  const [kept, setKept] = useState(String(cluster.follow_megabytes));
  const [minutes, setMinutes] = useState<number>(A_DAY);
  const follow = useFollow(cluster.name);
  if (!operates) return null;
  const megabytes = megabytesIn(kept);
  const known = configurations.data?.results ?? [];
  const configuration = known.find((one) => one.id === chosen) ?? known.find((one) => !one.builtin) ?? known[0];
  return (
    <Panel aria-labelledby="shadow">
      <PanelHeader title={t("shadow")} id="shadow" />
      <p className={classes.note}>{t("whatAShadowIs")}</p>
      <fieldset className={classes.ways}>
        <legend className="srOnly">{t("way")}</legend>
        {WAYS.map((one) => (
          <label key={one}>
            <input type="radio" name="way" checked={way === one} onChange={() => setWay(one)} />
            <b>{t(`way.${one}`)}</b>
            <span className="muted">{t(`whatAWayIs.${one}`)}</span>
          </label>
        ))}
      </fieldset>
      <div className={classes.form}>
        <Megabytes text={kept} onText={setKept} disabled={follow.isPending} />
      </div>
      <div className={classes.form}>
        <select
          aria-label={t("configuration")}
          value={configuration?.id ?? ""}
          onChange={(event) => setChosen(event.currentTarget.value)}
        >
          {known.map((one) => (
            <option key={one.id} value={one.id}>
              {one.name}
            </option>
          ))}
        </select>
        <label className={classes.choice}>
          {t("forHowLong")}
          <select value={minutes} onChange={(event) => setMinutes(Number(event.currentTarget.value))}>
            {DURATIONS.map((one) => (
              <option key={one} value={one}>
                {t(`for.${one}`)}
              </option>
            ))}
          </select>
        </label>
        <Button
          sends
          disabled={
            follow.isPending ||
            megabytes === null ||
            configuration === undefined ||
            !cluster.is_offered ||
            !cluster.can_be_read
          }
          title={cluster.can_be_read ? t("whatAShadowIs") : t("followWhenRead")}
          onClick={() => {
            if (configuration !== undefined && megabytes !== null)
              follow.mutate({
                configuration: configuration.latest.id,
                shadow: way,
                megabytes,
                ...(minutes === 0 ? {} : { minutes }),
              });
          }}
        >
          {follow.isPending ? t("readingToFollow") : t("tryOnThisCluster")}
        </Button>
      </div>
      {configurations.error === null ? null : (
        <Failed what={t("noConfigurations")} error={configurations.error} small />
      )}
      {follow.error === null ? null : <Failed what={t("notFollowed")} error={follow.error} small />}
    </Panel>
  );
}
