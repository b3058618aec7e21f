/** Objects in an address: "PersistentVolumeClaim/data/db-0", and "StorageClass//fast" for what has no namespace. */
import type { ObjectRef } from "@/api/podQueries";

/** "PodGroup.scheduling.k8s.io" where two API groups have a kind of that name, else the kind alone. */
export function kindName({ kind, group }: { kind: string; group: string }, kinds: readonly { kind: string }[]): string {
  return kinds.filter((other) => other.kind === kind).length > 1 ? `${kind}.${group}` : kind;
}

export function objectText({ kind, namespace, name }: ObjectRef): string {
  return `${kind}/${namespace}/${name}`;
}

/** Null for a text that names no object. */
export function objectOf(text: string | undefined): ObjectRef | null {
  const parts = text?.split("/") ?? [];
  const [kind, namespace, name] = parts;
  if (parts.length !== 3 || !kind || namespace === undefined || !name) return null;
  return { kind, namespace, name };
}

/** "PersistentVolumeClaim data/db-0" */
export function objectLabel({ kind, namespace, name }: ObjectRef): string {
  return `${kind} ${namespace === "" ? name : `${namespace}/${name}`}`;
}
