import type { Bundle } from "../area";

const files = import.meta.glob<Record<string, string>>("./*.json", { eager: true, import: "default" });

const bundle: Bundle = Object.fromEntries(
  Object.entries(files).map(([path, texts]) => [path.slice("./".length, -".json".length), texts]),
);
export default bundle;
