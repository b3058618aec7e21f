import { Link } from "@tanstack/react-router";

import type { ObjectRef } from "@/api/podQueries";

import { t } from "../texts";
import { objectLabel, objectText } from "./objects";

/** Opens the object's YAML beside the page it stands on. */
export function ObjectLink({ object }: { object: ObjectRef }) {
  return (
    <Link
      from="/runs/$run/pods/$namespace/$name"
      to="."
      search={(old) => ({ ...old, object: objectText(object) })}
      replace
      className="mono leads"
      title={t("yAMLOf", { objectLabel: objectLabel(object) })}
    >
      {object.name}
    </Link>
  );
}
