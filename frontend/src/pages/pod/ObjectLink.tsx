import { Link } from "@tanstack/react-router";

import type { ObjectRef } from "@/api/podQueries";

import { objectLabel, objectText } from "./objects";

/** Opens the object's YAML beside the page it stands on. */
export function ObjectLink({ object }: { object: ObjectRef }) {
  return (
    <Link from="/runs/$run/pods/$namespace/$name" to="." search={(old) => ({ ...old, object: objectText(object) })} replace className="mono leads"
      title={`YAML of ${objectLabel(object)}`}>{object.name}</Link>
  );
}
