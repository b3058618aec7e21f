/** Beside a text that is an older file of kube-scheduler: what it is, and the way to v1. */
import { Suspense, useState } from "react";

import { Button } from "@/components/Button";
import { later } from "@/parts/later";

import { t } from "../texts";
import classes from "./Convert.module.css";

const ConvertDrawer = later(() => import("./ConvertDrawer"));

export function OlderNotice({ text, onUse }: { text: string; onUse: (text: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <div className={classes.notice} role="status">
      <p>{t("thisIsAnOlderFile")}</p>
      <Button size="sm" kind="primary" onClick={() => setOpen(true)}>
        {t("convertToV1")}
      </Button>
      <Drawn open={open} text={text} onUse={onUse} onClose={() => setOpen(false)} />
    </div>
  );
}

/** A text that is at hand nowhere yet. */
export function PasteButton({ onUse }: { onUse: (text: string) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>{t("pasteAnOlderFile")}</Button>
      <Drawn open={open} text={null} onUse={onUse} onClose={() => setOpen(false)} />
    </>
  );
}

interface DrawnProps {
  open: boolean;
  text: string | null;
  onUse: (text: string) => void;
  onClose: () => void;
}

function Drawn({ open, text, onUse, onClose }: DrawnProps) {
  if (!open) return null;
  return (
    <Suspense fallback={null}>
      <ConvertDrawer
        text={text}
        onClose={onClose}
        onUse={(made) => {
          onClose();
          onUse(made);
        }}
      />
    </Suspense>
  );
}
