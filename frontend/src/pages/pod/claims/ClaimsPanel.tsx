/** The claims of a pod: which volume each has or will have, which devices were given to it, and why one is pending. */
import { Link } from "@tanstack/react-router";

import type { Claims, DeviceClaim, VolumeClaim } from "@/api/podTypes";
import { Chip } from "@/components/Chip";
import { Panel, PanelHeader } from "@/components/Panel";
import { ScrollRegion } from "@/components/ScrollRegion";
import { listed, series } from "@/format/lists";

import { t } from "../texts";
import { ObjectLink } from "../yaml/ObjectLink";
import classes from "./ClaimsPanel.module.css";
import { DeviceConditions } from "./DeviceConditions";

const VOLUME: Record<VolumeClaim["state"], { word: string; kind: "ok" | "line" | "warn" }> = {
  bound: {
    get word() {
      return t("volume.bound");
    },
    kind: "ok",
  },
  match: {
    get word() {
      return t("volume.match");
    },
    kind: "ok",
  },
  provision: {
    get word() {
      return t("toBeProvisioned");
    },
    kind: "ok",
  },
  pending: {
    get word() {
      return t("volume.pending");
    },
    kind: "line",
  },
  lost: {
    get word() {
      return t("volume.lost");
    },
    kind: "warn",
  },
  missing: {
    get word() {
      return t("volume.missing");
    },
    kind: "warn",
  },
};
const DEVICE: Record<DeviceClaim["state"], { word: string; kind: "ok" | "line" | "warn" }> = {
  allocated: {
    get word() {
      return t("device.allocated");
    },
    kind: "ok",
  },
  decided: {
    get word() {
      return t("device.decided");
    },
    kind: "ok",
  },
  pending: {
    get word() {
      return t("device.pending");
    },
    kind: "line",
  },
  missing: {
    get word() {
      return t("device.missing");
    },
    kind: "warn",
  },
};

export function ClaimsPanel({ run, claims }: { run: string; claims: Claims }) {
  const { volumes, devices } = claims;
  if (volumes.length === 0 && devices.length === 0) return null;
  const title = devices.length === 0 ? t("volumes") : volumes.length === 0 ? t("devices") : t("volumesAndDevices");
  return (
    <Panel aria-labelledby="claims">
      <PanelHeader id="claims" title={title}>
        <span className="faint">{t("nClaims", { count: volumes.length + devices.length })}</span>
        <span className="grow" />
        <Link to="/runs/$run/objects" params={{ run }} className={`leads ${classes.all}`}>
          {t("allOfThisRun")}
        </Link>
      </PanelHeader>
      <ul className={classes.list}>
        {volumes.map((one) => (
          <Volume key={one.volume} one={one} />
        ))}
        {devices.map((one) => (
          <DeviceRow key={`${one.local} ${one.claim}`} run={run} one={one} />
        ))}
      </ul>
    </Panel>
  );
}

function Volume({ one }: { one: VolumeClaim }) {
  const { word, kind } = VOLUME[one.state];
  return (
    <li className={classes.claim}>
      <div className={classes.name}>
        {one.state === "missing" ? (
          <span className="mono">{one.claim}</span>
        ) : (
          <ObjectLink object={{ kind: "PersistentVolumeClaim", namespace: one.namespace, name: one.claim }} />
        )}
        <Chip kind={kind}>{word}</Chip>
        <span className="faint">
          {t(one.ephemeral ? "claimVolumeEphemeral" : "claimVolume", { volume: one.volume })}
        </span>
      </div>
      <dl className={classes.facts}>
        {one.persistent_volume === "" ? null : (
          <div>
            <dt>{t("volume")}</dt>
            <dd>
              <ObjectLink object={{ kind: "PersistentVolume", namespace: "", name: one.persistent_volume }} />
            </dd>
          </div>
        )}
        {one.size === "" ? null : (
          <div>
            <dt>{t("size")}</dt>
            <dd className="num">{one.size}</dd>
          </div>
        )}
        {one.storage_class === "" ? null : (
          <div>
            <dt>{t("class")}</dt>
            <dd>
              <ObjectLink object={{ kind: "StorageClass", namespace: "", name: one.storage_class }} />
              {one.binding_mode === "" ? null : <span className="faint"> {one.binding_mode}</span>}
            </dd>
          </div>
        )}
        {one.zones.length === 0 ? null : (
          <div>
            <dt>{one.zones.length === 1 ? t("zone") : t("zones")}</dt>
            <dd>{listed(one.zones)}</dd>
          </div>
        )}
        {one.access_modes.length === 0 ? null : (
          <div>
            <dt>{t("access")}</dt>
            <dd>{listed(one.access_modes)}</dd>
          </div>
        )}
      </dl>
      {one.text === "" ? null : <p className={classes.why}>{one.text}</p>}
    </li>
  );
}

function DeviceRow({ run, one }: { run: string; one: DeviceClaim }) {
  const { word, kind } = DEVICE[one.state];
  const asked = one.requests.map(({ count, device_class: deviceclass, alternatives }) => {
    const wanted = { n: count ?? t("all"), deviceclass };
    return alternatives > 0 ? t("devicesAskedOrOthers", { ...wanted, count: alternatives }) : t("devicesAsked", wanted);
  });
  return (
    <li className={classes.claim}>
      <div className={classes.name}>
        {one.state === "missing" ? (
          <span className="mono">{one.claim === "" ? one.local : one.claim}</span>
        ) : (
          <ObjectLink object={{ kind: "ResourceClaim", namespace: one.namespace, name: one.claim }} />
        )}
        <Chip kind={kind}>{word}</Chip>
        <span className="faint">
          {one.local === ""
            ? t("forExtendedResources")
            : one.template === ""
              ? t("claimLocal", { local: one.local })
              : t("claimFromTemplate", { local: one.local, template: one.template })}
        </span>
      </div>
      <dl className={classes.facts}>
        {asked.length === 0 ? null : (
          <div>
            <dt>{t("asksFor")}</dt>
            <dd>{series(asked)}</dd>
          </div>
        )}
        {one.used_by > 0 ? (
          <div>
            <dt>{t("reservedFor")}</dt>
            <dd>{t("nPods", { count: one.used_by })}</dd>
          </div>
        ) : null}
      </dl>
      {one.devices.length === 0 ? null : (
        <ScrollRegion className={classes.scroll} label={t("devicesOf", { claim: one.claim })}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th>{t("device")}</th>
                <th>{t("driver")}</th>
                <th>{t("pool")}</th>
                <th>{t("request")}</th>
              </tr>
            </thead>
            <tbody>
              {one.devices.map((device) => (
                <tr key={`${device.driver} ${device.pool} ${device.device}`}>
                  <td className="mono">
                    {device.device}
                    {device.admin_access ? <span className="faint"> {t("adminAccess")}</span> : null}
                  </td>
                  <td>{device.driver}</td>
                  <td className="mono">{device.pool}</td>
                  <td>{device.request}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
      {one.devices
        .filter((device) => device.conditions.length > 0)
        .map((device) => (
          <DeviceConditions
            key={`${device.driver} ${device.pool} ${device.device}`}
            run={run}
            claim={one}
            device={device}
          />
        ))}
      {one.text === "" ? null : <p className={classes.why}>{one.text}</p>}
    </li>
  );
}
