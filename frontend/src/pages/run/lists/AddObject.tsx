/** Adding an object to a run, where that would be taken: as the server says it of each object that is there (`editable`). */
import { Suspense, useState } from "react";

import { useMe } from "@/api/useMe";
import { Button } from "@/components/Button";
import { useNodes, useRunStore, useRunView } from "@/live/useLive";
import { later } from "@/parts/later";

import { t } from "../texts";

const AddDrawer = later(() => import("@/pages/pod/yaml/AddDrawer"));

interface AddObjectProps {
  run: string;
  /** Which the list shows. */
  kind: string | undefined;
}

export function AddObject({ run: key, kind }: AddObjectProps) {
  const store = useRunStore(key);
  const { run } = useRunView(store);
  const nodes = useNodes(store);
  const { operates } = useMe();
  const [adding, setAdding] = useState(false);
  if (!operates || run === null || run.state === "stopped" || run.follows !== "" || run.moment !== null) return null;
  return (
    <>
      <Button size="sm" icon="plus" onClick={() => setAdding(true)}>
        {t("addAnObject")}
      </Button>
      <Suspense fallback={null}>
        {adding ? (
          <AddDrawer run={key} kind={kind} nodes={nodes.table?.names ?? []} onClose={() => setAdding(false)} />
        ) : null}
      </Suspense>
    </>
  );
}
