/** What it costs from each zone to talk to the pods of the AppGroup that a pod needs, and which of them are too far. */
import type { NetworkPeer, NetworkPlace, NetworkReach, PodNetwork } from "@/api/podTypes";
import { Chip } from "@/components/Chip";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";

import { t } from "../texts";
import { ObjectLink } from "../yaml/ObjectLink";
import classes from "./Catalogue.module.css";

export function NetworkPanel({ network }: { network: PodNetwork }) {
  const { peers, places } = network;
  return (
    <Panel aria-labelledby="network-costs">
      <PanelHeader id="network-costs" title={t("networkCosts")}>
        <ObjectLink object={{ kind: "AppGroup", ...network.group }} />
        <ObjectLink object={{ kind: "NetworkTopology", ...network.topology }} />
        <Chip>{network.weights}</Chip>
      </PanelHeader>
      <ScrollRegion className={classes.scroll} label={t("networkTable")}>
        <table className={classes.network}>
          <thead>
            <tr>
              <th scope="col">{t("networkFrom")}</th>
              {peers.map((one, index) => (
                <th key={index} scope="col">
                  <Peer peer={one} />
                </th>
              ))}
              <th scope="col">{t("networkReaches")}</th>
            </tr>
          </thead>
          <tbody>
            {places.map((one) => (
              <tr key={`${one.region} ${one.zone}`}>
                <th scope="row">
                  {placeName(one)}
                  <span className="faint num"> {t("networkNodes", { count: one.nodes })}</span>
                </th>
                {one.reaches.map((reach, index) => (
                  <td key={index}>
                    <Reach reach={reach} />
                  </td>
                ))}
                <td className={one.violated > one.satisfied ? classes.bad : undefined}>
                  {t("networkNearAndFar", { near: one.satisfied, far: one.violated })}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
      <p className={classes.foot}>
        {network.more_places === 0 ? null : `${t("networkMorePlaces", { count: network.more_places })} `}
        {network.more_peers === 0 ? null : `${t("networkMorePeers", { count: network.more_peers })} `}
        {t("networkRule")}
      </p>
    </Panel>
  );
}

function placeName({ region, zone }: Pick<NetworkPlace, "region" | "zone">): string {
  if (zone === "") return region === "" ? t("networkNoZone") : region;
  return region === "" ? zone : `${region} / ${zone}`;
}

function Peer({ peer }: { peer: NetworkPeer }) {
  return (
    <>
      <b>{peer.workload}</b>
      <span className={classes.second}>{placeName(peer)}</span>
      <span className={classes.second}>{t("networkMost", { count: peer.pods, most: peer.most })}</span>
    </>
  );
}

function Reach({ reach }: { reach: NetworkReach }) {
  return (
    <>
      <b className="num">{reach.cost}</b>{" "}
      {reach.near === null ? (
        <span className="faint">{t("networkUnknown")}</span>
      ) : reach.near ? (
        <span className={classes.ok}>{t("networkNear")}</span>
      ) : (
        <span className={classes.bad}>{t("networkFar")}</span>
      )}
    </>
  );
}
