import { useEditing } from "./editing";
import { addEdits } from "./edits";
import classes from "./AddPlugin.module.css";

/** Plugins of this installation that the profile does not name yet. */
export function AddPlugin() {
  const { shown, plugins, profile, edit, select } = useEditing();
  const present = new Set(shown.rows.map((row) => row.plugin));
  const others = [...plugins.values()].filter((plugin) => !present.has(plugin.name));
  if (others.length === 0) return null;
  return (
    <label className={classes.add}>
      <span className="srOnly">Add a plugin</span>
      <select value="" onChange={(event) => {
        const plugin = plugins.get(event.currentTarget.value);
        if (plugin === undefined) return;
        edit(...addEdits(profile, shown, plugin));
        select(plugin.name);
      }}>
        <option value="" disabled>Add a plugin…</option>
        {others.map((plugin) => (
          <option key={plugin.name} value={plugin.name}>
            {plugin.name}{plugin.distribution === null ? "" : `, from ${plugin.distribution}`}
          </option>
        ))}
      </select>
    </label>
  );
}
