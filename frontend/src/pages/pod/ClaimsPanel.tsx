/** The claims of a pod: which volume each has or will have, which devices were given to it, and why one is pending. */
import { Link } from "@tanstack/react-router";

import type { Claims, DeviceClaim, VolumeClaim } from "@/api/podTypes";
import { Chip } from "@/components/Chip";
import { Panel, PanelHeader } from "@/components/Panel";
import { counted } from "@/format/number";

import classes from "./ClaimsPanel.module.css";
import { ObjectLink } from "./ObjectLink";

const VOLUME: Record<VolumeClaim["state"], { word: string; kind: "ok" | "line" | "warn" }> = {
  bound: { word: "bound", kind: "ok" }, match: { word: "matched", kind: "ok" }, provision: { word: "to be provisioned", kind: "ok" },
  pending: { word: "pending", kind: "line" }, lost: { word: "lost", kind: "warn" }, missing: { word: "missing", kind: "warn" },
};
const DEVICE: Record<DeviceClaim["state"], { word: string; kind: "ok" | "line" | "warn" }> = {
  allocated: { word: "allocated", kind: "ok" }, decided: { word: "chosen", kind: "ok" }, pending: { word: "pending", kind: "line" }, missing: { word: "missing", kind: "warn" },
};

export function ClaimsPanel({ run, claims }: { run: string; claims: Claims }) {
  const { volumes, devices } = claims;
  if (volumes.length === 0 && devices.length === 0) return null;
  const title = devices.length === 0 ? "Volumes" : volumes.length === 0 ? "Devices" : "Volumes and devices";
  return (
    <Panel aria-labelledby="claims">
      <PanelHeader id="claims" title={title}>
        <span className="faint">{counted(volumes.length + devices.length, "claim")}</span>
        <span className="grow" />
        <Link to="/runs/$run/objects" params={{ run }} className={`leads ${classes.all}`}>All of this run</Link>
      </PanelHeader>
      <ul className={classes.list}>
        {volumes.map((one) => <Volume key={one.volume} one={one} />)}
        {devices.map((one) => <DeviceRow key={`${one.local} ${one.claim}`} one={one} />)}
      </ul>
    </Panel>
  );
}

function Volume({ one }: { one: VolumeClaim }) {
  const { word, kind } = VOLUME[one.state];
  return (
    <li className={classes.claim}>
      <div className={classes.name}>
        {one.state === "missing" ? <span className="mono">{one.claim}</span> : <ObjectLink object={{ kind: "PersistentVolumeClaim", namespace: one.namespace, name: one.claim }} />}
        <Chip kind={kind}>{word}</Chip>
        <span className="faint">volume {one.volume}{one.ephemeral ? ", ephemeral" : ""}</span>
      </div>
      <dl className={classes.facts}>
        {one.persistent_volume === "" ? null : (
          <div><dt>Volume</dt><dd><ObjectLink object={{ kind: "PersistentVolume", namespace: "", name: one.persistent_volume }} /></dd></div>
        )}
        {one.size === "" ? null : <div><dt>Size</dt><dd className="num">{one.size}</dd></div>}
        {one.storage_class === "" ? null : (
          <div><dt>Class</dt><dd><ObjectLink object={{ kind: "StorageClass", namespace: "", name: one.storage_class }} />{one.binding_mode === "" ? null : <span className="faint"> {one.binding_mode}</span>}</dd></div>
        )}
        {one.zones.length === 0 ? null : <div><dt>{one.zones.length === 1 ? "Zone" : "Zones"}</dt><dd>{one.zones.join(", ")}</dd></div>}
        {one.access_modes.length === 0 ? null : <div><dt>Access</dt><dd>{one.access_modes.join(", ")}</dd></div>}
      </dl>
      {one.text === "" ? null : <p className={classes.why}>{one.text}</p>}
    </li>
  );
}

function DeviceRow({ one }: { one: DeviceClaim }) {
  const { word, kind } = DEVICE[one.state];
  const asked = one.requests.map((request) => `${request.count ?? "all"} of ${request.device_class}${request.alternatives > 0 ? `, or ${counted(request.alternatives, "other choice")}` : ""}`);
  return (
    <li className={classes.claim}>
      <div className={classes.name}>
        {one.state === "missing" ? <span className="mono">{one.claim === "" ? one.local : one.claim}</span> : <ObjectLink object={{ kind: "ResourceClaim", namespace: one.namespace, name: one.claim }} />}
        <Chip kind={kind}>{word}</Chip>
        <span className="faint">{one.local === "" ? "for extended resources" : one.template === "" ? `claim ${one.local}` : `claim ${one.local}, from template ${one.template}`}</span>
      </div>
      <dl className={classes.facts}>
        {asked.length === 0 ? null : <div><dt>Asks for</dt><dd>{asked.join("; ")}</dd></div>}
        {one.used_by > 0 ? <div><dt>Reserved for</dt><dd>{counted(one.used_by, "pod")}</dd></div> : null}
      </dl>
      {one.devices.length === 0 ? null : (
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the table scrolls sideways on phones
        <div className={classes.scroll} role="region" aria-label={`Devices of ${one.claim}`} tabIndex={0}>
          <table className={classes.table}>
            <thead><tr><th>Device</th><th>Driver</th><th>Pool</th><th>Request</th></tr></thead>
            <tbody>
              {one.devices.map((device) => (
                <tr key={`${device.driver} ${device.pool} ${device.device}`}>
                  <td className="mono">{device.device}{device.admin_access ? <span className="faint"> admin access</span> : null}</td>
                  <td>{device.driver}</td><td className="mono">{device.pool}</td><td>{device.request}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {one.text === "" ? null : <p className={classes.why}>{one.text}</p>}
    </li>
  );
}
