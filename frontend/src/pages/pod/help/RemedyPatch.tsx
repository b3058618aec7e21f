import type { ReactNode } from "react";

import type { Remedy } from "@/api/analyses";
import { Button } from "@/components/Button";
import { ScrollRegion } from "@/components/ScrollRegion";

import { t } from "../texts";
import { copyText } from "../yaml/copyText";
import classes from "./RemedyPatch.module.css";

/** How a remedy is carried out in a real cluster: kubectl's commands to copy, and what they change. */
export function RemedyPatch({ remedy }: { remedy: Remedy }) {
  const commands = remedy.commands.join("\n");
  return (
    <div className={classes.patch}>
      {commands === "" ? null : (
        <Text title={t("inARealCluster")} text={commands}>
          {commands}
        </Text>
      )}
      {remedy.diff === "" ? null : (
        <Text title={t("theChange")} text={remedy.diff}>
          {remedy.diff.split("\n").map((line, index) => (
            <span key={index} data-sign={line.charAt(0)}>{`${line}\n`}</span>
          ))}
        </Text>
      )}
    </div>
  );
}

function Text({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <figure>
      <figcaption>
        {title}{" "}
        <Button size="sm" aria-label={t("copyThis", { what: title })} onClick={() => void copyText(text)}>
          {t("copy")}
        </Button>
      </figcaption>
      <ScrollRegion as="pre" label={title}>
        {children}
      </ScrollRegion>
    </figure>
  );
}
