import { listed } from "@/format/lists";

/** What people call a browser, from its User-Agent: the first that fits, as each one also names those that it imitates. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdgA?\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)/, "Opera"],
  [/\bFirefox\/(\d+)/, "Firefox"],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+).*Safari\//, "Safari"],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/** "Firefox 128, Linux"; of what is no browser its own first word ("curl/8.5"); undefined of nothing. */
export function browserOf(agent: string): string | undefined {
  const [pattern, name] = BROWSERS.find(([one]) => one.test(agent)) ?? [];
  if (pattern === undefined || name === undefined) return agent.split(" ").find((word) => word !== "");
  const version = pattern.exec(agent)?.[1];
  const system = SYSTEMS.find(([one]) => one.test(agent))?.[1];
  return listed([`${name} ${version ?? ""}`.trim(), ...(system === undefined ? [] : [system])]);
}
