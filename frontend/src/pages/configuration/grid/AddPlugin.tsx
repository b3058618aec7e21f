import { clauses } from "@/format/lists";

import { useEditing } from "../draft/editing";
import { addEdits } from "../draft/edits";
import { t } from "../texts";
import classes from "./AddPlugin.module.css";

/** Plugins of this installation that the profile does not name yet. */
export function AddPlugin() {
  const { shown, plugins, profile, edit, select } = useEditing();
  const present = new Set(shown.rows.map((row) => row.plugin));
  const others = [...plugins.values()].filter((plugin) => !present.has(plugin.name));
  if (others.length === 0) return null;
  return (
    <label className={classes.add}>
      <span className="srOnly">{t("addAPlugin")}</span>
      <select
        value=""
        onChange={(event) => {
          const plugin = plugins.get(event.currentTarget.value);
          if (plugin === undefined) return;
          edit(...addEdits(profile, shown, plugin));
          select(plugin.name);
        }}
      >
        <option value="" disabled>
          {t("choosePluginToAdd")}
        </option>
        {others.map((plugin) => (
          <option key={plugin.name} value={plugin.name}>
            {plugin.distribution === null
              ? plugin.name
              : clauses([plugin.name, t("fromDistribution", { distribution: plugin.distribution })])}
          </option>
        ))}
      </select>
    </label>
  );
}
