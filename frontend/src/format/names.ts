/** Names are read at both ends: what a list of node names has in common can be left out, and long names lose their middle. */

/** Longest common prefix that ends at a separator: ["ip-10-0-1-10", "ip-10-0-2-4"] → "ip-10-0-". */
export function commonPrefix(names: readonly string[]): string {
  if (names.length < 2) return "";
  let prefix = names[0] ?? "";
  for (const name of names) {
    while (!name.startsWith(prefix)) prefix = prefix.slice(0, -1);
    if (prefix === "") return "";
  }
  const end = Math.max(prefix.lastIndexOf("-"), prefix.lastIndexOf("."), prefix.lastIndexOf("/"));
  const cut = prefix.slice(0, end + 1);
  return names.some((name) => name.length === cut.length) ? "" : cut;
}

/** "a-very-long-workload-name" → "a-very-…d-name" */
export function middle(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const kept = longest - 1;
  const head = Math.ceil(kept / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (kept - head))}`;
}
