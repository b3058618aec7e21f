/** The extenders of the draft, a form each. A field that loses the focus is written into the text. */
import { Button, IconButton } from "@/components/Button";
import { Empty } from "@/components/Outcome";

import { useEditing } from "../draft/editing";
import { t } from "../texts";
import { shortMessage } from "../words";
import classes from "./ExtendersDrawer.module.css";

type Written = Record<string, unknown>;
type Path = (string | number)[];

const VERBS = ["filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb"] as const;
const SWITCHES = ["nodeCacheCapable", "ignorable", "enableHTTPS"] as const;
const TLS_TEXTS = ["serverName", "caData", "certData", "keyData"] as const;
const TLS = "tlsConfig";
const RESOURCES = "managedResources";
const FIRST: Written = { urlPrefix: "http://127.0.0.1:9876", filterVerb: "filter", nodeCacheCapable: true };

const object = (value: unknown): Written =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Written) : {};
const list = (value: unknown): Written[] => (Array.isArray(value) ? value.map(object) : []);
const shown = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? String(value) : "");

export function ExtenderForms() {
  const { effective, edit, readOnly } = useEditing();
  const extenders = effective.extenders.map(object);
  return (
    <>
      <p className={classes.says}>{t("whatExtendersAre")}</p>
      {extenders.length === 0 ? <Empty small>{t("noExtenders")}</Empty> : null}
      {extenders.map((extender, index) => (
        <Extender key={index} index={index} extender={extender} />
      ))}
      {readOnly ? null : (
        <Button
          icon="plus"
          onClick={() => edit({ type: "setField", path: ["extenders", extenders.length], value: FIRST })}
        >
          {t("addAnExtender")}
        </Button>
      )}
    </>
  );
}

function Extender({ index, extender }: { index: number; extender: Written }) {
  const { edit, examination, readOnly } = useEditing();
  const at: Path = ["extenders", index];
  const errors = examination.errors.filter(
    (one) => one.path === `extenders[${index}]` || one.path.startsWith(`extenders[${index}].`),
  );
  const tls = object(extender.tlsConfig);
  return (
    <fieldset className={classes.extender} disabled={readOnly}>
      <legend>
        {t("extenderNumber", { number: index + 1 })}
        {readOnly ? null : (
          <IconButton
            icon="trash"
            iconSize={13}
            label={t("removeExtender", { number: index + 1 })}
            onClick={() => edit({ type: "removeField", path: at })}
          />
        )}
      </legend>
      <Text path={[...at, "urlPrefix"]} value={extender.urlPrefix} />
      <div className={classes.pairs}>
        {VERBS.map((field) => (
          <Text key={field} path={[...at, field]} value={extender[field]} />
        ))}
        <Text path={[...at, "weight"]} value={extender.weight === 0 ? "" : extender.weight} isNumber />
        <Text path={[...at, "httpTimeout"]} value={extender.httpTimeout} />
      </div>
      <div className={classes.switches}>
        {SWITCHES.map((field) => (
          <Switch key={field} path={[...at, field]} value={extender[field]} />
        ))}
      </div>
      <Managed at={at} resources={list(extender.managedResources)} />
      <details open={extender.tlsConfig !== null && extender.tlsConfig !== undefined}>
        <summary className="mono">{TLS}</summary>
        <div className={classes.pairs}>
          {TLS_TEXTS.map((field) => (
            <Text key={field} path={[...at, TLS, field]} value={tls[field]} />
          ))}
        </div>
        <Switch path={[...at, TLS, "insecure"]} value={tls.insecure} />
      </details>
      {errors.length === 0 ? null : (
        <ul className={classes.errors} role="status">
          {errors.map((one) => (
            <li key={`${one.path} ${one.message}`}>{shortMessage(one)}</li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}

function Managed({ at, resources }: { at: Path; resources: Written[] }) {
  const { edit, readOnly } = useEditing();
  const path: Path = [...at, RESOURCES];
  return (
    <div className={classes.managed}>
      <span className="mono">{RESOURCES}</span>
      {resources.map((each, index) => (
        <div key={index} className={classes.resource}>
          <Text path={[...path, index, "name"]} value={each.name} />
          <Switch path={[...path, index, "ignoredByScheduler"]} value={each.ignoredByScheduler} />
          {readOnly ? null : (
            <IconButton
              icon="trash"
              iconSize={13}
              label={t("removeResource", { name: shown(each.name) })}
              onClick={() => edit({ type: "removeField", path: resources.length === 1 ? path : [...path, index] })}
            />
          )}
        </div>
      ))}
      {readOnly ? null : (
        <Button
          size="sm"
          icon="plus"
          onClick={() =>
            edit({ type: "setField", path: [...path, resources.length], value: { name: "example.com/device" } })
          }
        >
          {t("addAResource")}
        </Button>
      )}
    </div>
  );
}

/** Field names are those of the file. */
const nameOf = (path: Path): string => String(path.at(-1));

function Text({ path, value, isNumber = false }: { path: Path; value: unknown; isNumber?: boolean }) {
  const { edit } = useEditing();
  const now = shown(value);
  const commit = (text: string) => {
    if (text === now) return;
    if (text === "") edit({ type: "removeField", path });
    else edit({ type: "setField", path, value: isNumber && !Number.isNaN(Number(text)) ? Number(text) : text });
  };
  return (
    <label className={classes.field}>
      <span className="mono">{nameOf(path)}</span>
      <input
        key={now}
        className="mono"
        defaultValue={now}
        spellCheck={false}
        autoComplete="off"
        inputMode={isNumber ? "numeric" : undefined}
        onBlur={(event) => commit(event.currentTarget.value.trim())}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.currentTarget.blur();
        }}
      />
    </label>
  );
}

function Switch({ path, value }: { path: Path; value: unknown }) {
  const { edit } = useEditing();
  return (
    <label className={classes.switch}>
      <input
        type="checkbox"
        checked={value === true}
        onChange={(event) => edit({ type: "setField", path, value: event.currentTarget.checked })}
      />
      <span className="mono">{nameOf(path)}</span>
    </label>
  );
}
