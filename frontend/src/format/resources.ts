/** Resource names and quantities as people say them: "6 cpu · 24 Gi · 1 GPU". */
import { written } from "@/languages/area";

import { decimal, rounded } from "./number";
import { t } from "./texts";

const SHORT: Record<string, string> = {
  cpu: "cpu",
  memory: "mem",
  pods: "pod",
  "nvidia.com/gpu": "gpu",
  "amd.com/gpu": "gpu",
  get "ephemeral-storage"() {
    return t("diskName");
  },
};

/** The label on a node tile, at most four letters or so. */
export function resourceLabel(name: string): string {
  const known = SHORT[name];
  if (known !== undefined) return known;
  const last = name.slice(name.lastIndexOf("/") + 1);
  return last.length > 6 ? last.slice(0, 6) : last;
}

/** `{cpu: "6", memory: "24Gi", "nvidia.com/gpu": "1"}` → "6 cpu · 24 Gi · 1 GPU" */
export function requestText(requests: Record<string, string | number> | undefined): string {
  if (requests === undefined) return t("none");
  const parts: string[] = [];
  for (const [name, raw] of Object.entries(requests)) {
    const value = String(raw);
    if (value === "0" || value === "") continue;
    if (name === "cpu") parts.push(`${cores(value)} cpu`);
    else if (name === "memory") parts.push(unit(value));
    else if (name === "ephemeral-storage") parts.push(t("disk", { amount: unit(value) }));
    else if (name.endsWith("/gpu")) parts.push(`${value} GPU`);
    else parts.push(`${value} ${name}`);
  }
  return parts.length === 0 ? t("noRequests") : parts.join(" · ");
}

/** A Kubernetes quantity as text: "20050m" → "20.05", "96.1Gi" → "96.1 Gi". */
export function quantity(value: string): string {
  return /^\d+m$/.test(value) ? cores(value) : unit(value);
}

/** "250m" → "0.25" */
function cores(value: string): string {
  return decimal(value.endsWith("m") ? String(Number(value.slice(0, -1)) / 1000) : value);
}

/** "24Gi" → "24 Gi" */
function unit(value: string): string {
  return decimal(value.replace(/^([\d.]+)\s*([A-Za-z]+)$/, "$1 $2"));
}

/** A raw amount of the API (cpu in thousandths, memory in bytes) as people read it: "7.92", "31 Gi", "110". */
export function amount(resource: string, value: number): string {
  if (resource === "cpu") return rounded(value / 1000, 2);
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-"))
    return binary(value);
  return written(value);
}

function binary(value: number): string {
  for (const [size, name] of [
    [2 ** 40, "Ti"],
    [2 ** 30, "Gi"],
    [2 ** 20, "Mi"],
    [2 ** 10, "Ki"],
  ] as const) {
    if (value >= size) return `${rounded(value / size, value / size < 10 ? 1 : 0)} ${name}`;
  }
  return String(value);
}
