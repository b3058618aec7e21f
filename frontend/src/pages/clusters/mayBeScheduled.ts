/** What scheduling a cluster needs and does not have, and what a configuration says of its pods and nodes. */
import type { ClusterDetails, ClusterRule } from "@/api/clusters";
import type { EffectiveProfile } from "@/api/configurationTypes";

export const MAY_SCHEDULE = "PLAYGROUND_MAY_SCHEDULE";
/** kube-scheduler's own name, with whose Lease it is shared. */
export const DEFAULT_SCHEDULER = "default-scheduler";

export interface Lacks {
  /** Whoever started the server did not name the cluster. */
  server: boolean;
  /** Whoever asks has not the right. */
  person: boolean;
  /** Of the credentials; none before they were asked. */
  rules: readonly ClusterRule[];
}

export function lacks({ scheduling, rights }: ClusterDetails): Lacks {
  const mode = rights?.modes.find((one) => one.mode === "schedule");
  return {
    server: !scheduling.is_allowed,
    person: !scheduling.may,
    rules: mode?.rules.filter((one) => one.missing.length > 0) ?? [],
  };
}

/** What somebody lists: with commas, spaces or both between. */
export function listed(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter((one) => one !== ""))];
}

/** How many bindings a minute; 0 of none, for which there is no limit, and null of what is no number. */
export function limitIn(text: string): number | null {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  return /^\d{1,7}$/.test(trimmed) ? Number(trimmed) : null;
}

/** Labels as `kubectl` writes a selector: `pool=batch, zone=a`; null where something is not key=value. */
export function labelsIn(text: string): Record<string, string> | null {
  const found: Record<string, string> = {};
  for (const one of listed(text)) {
    const [, key, value] = /^([^=!]+)={1,2}([^=]*)$/.exec(one) ?? [];
    if (key === undefined || value === undefined || key in found) return null;
    found[key] = value;
  }
  return found;
}

interface Requirement {
  key: string;
  operator: string;
  values?: string[] | null;
}

/**
 * The nodes to which NodeAffinity's addedAffinity keeps all pods of a profile, one text per term, as `kubectl` writes
 * selectors; none where the profile keeps to none.
 */
export function ownNodes(profile: EffectiveProfile): string[] {
  const args = profile.args.NodeAffinity as { addedAffinity?: unknown } | undefined;
  const affinity = args?.addedAffinity as
    | {
        requiredDuringSchedulingIgnoredDuringExecution?: {
          nodeSelectorTerms?: { matchExpressions?: Requirement[]; matchFields?: Requirement[] }[];
        } | null;
      }
    | null
    | undefined;
  const terms = affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  return terms.map((term) =>
    [...(term.matchExpressions ?? []), ...(term.matchFields ?? [])].map(requirementText).join(","),
  );
}

function requirementText({ key, operator, values }: Requirement): string {
  const all = values ?? [];
  switch (operator) {
    case "Exists":
      return key;
    case "DoesNotExist":
      return `!${key}`;
    case "Gt":
      return `${key}>${all[0] ?? ""}`;
    case "Lt":
      return `${key}<${all[0] ?? ""}`;
    case "In":
      return all.length === 1 ? `${key}=${all[0] ?? ""}` : `${key} in (${all.join(",")})`;
    default:
      return `${key} notin (${all.join(",")})`;
  }
}
