/** Which colour a plugin has in the score bars, and where it stands in the stack: always the same, on every page and node. */
import type { ScorePlugin } from "@/api/podTypes";

const ORDER = [
  ["TaintToleration", "taint", "TT"],
  ["NodeAffinity", "affinity", "NA"],
  ["PodTopologySpread", "spread", "TS"],
  ["InterPodAffinity", "podaff", "PA"],
  ["NodeResourcesFit", "fit", "RF"],
  ["NodeResourcesBalancedAllocation", "balanced", "BA"],
  ["ImageLocality", "image", "IL"],
  ["DynamicResources", "dra", "DR"],
  ["VolumeBinding", "volume", "VB"],
] as const;

export interface PluginLook {
  /** The place of the plugin's cell in a row's `cells`. */
  cell: number;
  name: string;
  short: string;
  weight: number;
  equalForAll: boolean;
  /** What its points stand for; "" where nobody says so. */
  about: string;
  /** `var(--pl-<colour>)` */
  colour: string;
  /** A colour that is used a second time is hatched. */
  hatched: boolean;
}

function initials(name: string): string {
  const capitals = name.replace(/[^A-Z]/g, "");
  return capitals.length >= 2 ? capitals.slice(0, 3) : name.slice(0, 2).toUpperCase();
}

/** In stacking order: ours first, then others by name with the next free colours, which repeat hatched when they run out. */
export function looksOf(
  plugins: readonly (Omit<ScorePlugin, "about"> & Partial<Pick<ScorePlugin, "about">>)[],
): PluginLook[] {
  const places = new Map(plugins.map((plugin, cell) => [plugin.name, { plugin, cell }]));
  const looks: PluginLook[] = [];
  const taken = new Set<string>();
  for (const [name, colour, short] of ORDER) {
    const found = places.get(name);
    if (found === undefined) continue;
    taken.add(colour);
    looks.push({
      cell: found.cell,
      name,
      short,
      weight: found.plugin.weight,
      equalForAll: found.plugin.equal_for_all,
      about: found.plugin.about ?? "",
      colour,
      hatched: false,
    });
  }
  const known = new Set<string>(ORDER.map(([name]) => name));
  const free = ORDER.map(([, colour]) => colour).filter((colour) => !taken.has(colour));
  const others = [...places.values()]
    .filter(({ plugin }) => !known.has(plugin.name))
    .sort((a, b) => (a.plugin.name < b.plugin.name ? -1 : 1));
  others.forEach(({ plugin, cell }, index) => {
    const again = index - free.length;
    looks.push({
      cell,
      name: plugin.name,
      short: initials(plugin.name),
      weight: plugin.weight,
      equalForAll: plugin.equal_for_all,
      about: plugin.about ?? "",
      colour: free[index] ?? ORDER[again % ORDER.length]?.[1] ?? "taint",
      hatched: again >= 0,
    });
  });
  return looks;
}
