/** What several pods ask for together: "18 cpu · 72 Gi · 3 GPU". */
import { amount } from "./resources";
import { t } from "./texts";

const UNITS: Record<string, number> = {
  m: 1e-3,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
};

/** A Kubernetes quantity as a number; NaN for what is none. */
export function quantity(text: string): number {
  const found = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)$/.exec(text.trim());
  const unit = UNITS[found?.[2] ?? ""];
  return found === null || unit === undefined ? Number.NaN : Number(found[1]) * unit;
}

export type Requests = Readonly<Record<string, string>>;

function say(resource: string, value: number): string {
  const text = amount(resource, resource === "cpu" ? Math.round(value * 1000) : value);
  if (resource === "cpu") return `${text} cpu`;
  if (resource === "memory") return text;
  if (resource === "ephemeral-storage") return t("disk", { amount: text });
  return resource.endsWith("/gpu") ? `${text} GPU` : `${text} ${resource}`;
}

/** In the order in which resources are first asked for; what is zero is left out. */
export function requestSum(pods: readonly { requests?: Requests | undefined }[], join = " · "): string {
  const sums = new Map<string, number>();
  for (const pod of pods) {
    for (const [resource, text] of Object.entries(pod.requests ?? {})) {
      const value = quantity(text);
      if (!Number.isNaN(value)) sums.set(resource, (sums.get(resource) ?? 0) + value);
    }
  }
  return [...sums]
    .filter(([, value]) => value > 0)
    .map(([resource, value]) => say(resource, value))
    .join(join);
}
