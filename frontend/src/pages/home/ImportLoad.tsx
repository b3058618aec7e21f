/** The load of nodes beside an import: from files, or made up from a seed; kept with the snapshot. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";

import { pathOf, request } from "@/api/client";
import type { Import } from "@/api/types";
import { Button } from "@/components/Button";
import { Icon } from "@/components/Icon";
import { Failed } from "@/components/Outcome";
import { Segmented } from "@/components/Segmented";

import classes from "./ImportPreview.module.css";
import { t } from "./texts";

const RESOURCES = ["", "CPU", "Memory"] as const;
type Brought = { file: File; resource: string } | { seed: number } | null;

export default function ImportLoad({ read, disabled }: { read: Import; disabled: boolean }) {
  const queries = useQueryClient();
  const ids = useId();
  const [from, setFrom] = useState<"file" | "made">("file");
  const [resource, setResource] = useState<(typeof RESOURCES)[number]>("");
  const chosen = useRef<HTMLInputElement>(null);
  const [seed, setSeed] = useState("1");
  const bring = useMutation({
    mutationFn: (brought: Brought) => request<Import>(pathOf("imports", read.id, "load"), sent(brought)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["import"] }),
  });
  const busy = disabled || bring.isPending;
  const { load } = read;
  return (
    <section aria-labelledby={`${ids}-title`}>
      <h3 className={classes.title} id={`${ids}-title`}>
        {t("loadOfNodes")}
      </h3>
      <div className={classes.load}>
        <Segmented
          label={t("loadOfNodes")}
          value={from}
          options={[
            { value: "file", label: t("loadFile") },
            { value: "made", label: t("loadMade") },
          ]}
          onChange={setFrom}
        />
        {from === "file" ? (
          <>
            <Segmented
              label={t("loadResource")}
              value={resource}
              options={RESOURCES.map((value) => ({ value, label: value === "" ? t("loadAsItSays") : value }))}
              onChange={setResource}
            />
            <input
              ref={chosen}
              type="file"
              hidden
              aria-label={t("loadChoose")}
              onChange={(event) => {
                const file = event.currentTarget.files?.[0];
                if (file !== undefined) bring.mutate({ file, resource });
                event.currentTarget.value = "";
              }}
            />
            <Button size="sm" sends disabled={busy} onClick={() => chosen.current?.click()}>
              {t("loadChoose")}
            </Button>
          </>
        ) : (
          <form
            className={classes.load}
            onSubmit={(event) => {
              event.preventDefault();
              bring.mutate({ seed: Number(seed) });
            }}
          >
            <label className={classes.own}>
              {t("loadSeed")}
              <input
                className={classes.seed}
                type="number"
                min={0}
                step={1}
                required
                value={seed}
                onChange={(event) => setSeed(event.currentTarget.value)}
              />
            </label>
            <Button type="submit" size="sm" sends disabled={busy}>
              {t("loadMakeIt")}
            </Button>
          </form>
        )}
      </div>
      <p className="faint">{from === "file" ? `${t("loadWhat")}. ${t("loadAdd")}` : null}</p>
      {bring.error === null ? null : <Failed what={t("loadOfNodes")} error={bring.error} small />}
      {load === null ? null : (
        <div role="status" className={classes.load}>
          <Icon name="bound" size={13} />
          <span>{t("loadIsOf", { source: load.source, count: load.nodes })}</span>
          <Button kind="ghost" size="sm" sends disabled={busy} onClick={() => bring.mutate(null)}>
            {t("loadForget")}
          </Button>
        </div>
      )}
      {load === null || load.notes.length === 0 ? null : (
        <ul className={classes.notes}>
          {load.notes.map((one) => (
            <li key={one}>
              <Icon name="info" size={13} />
              {one}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function sent(brought: Brought): { method: "POST" | "DELETE"; body?: unknown } {
  if (brought === null) return { method: "DELETE" };
  if ("seed" in brought) return { method: "POST", body: brought };
  const form = new FormData();
  form.append("file", brought.file, brought.file.name);
  form.append("resource", brought.resource);
  return { method: "POST", body: form };
}
