/** What stands for somebody, a share link or a token: how long it lasts, and the one time that it is shown. */
import { useState } from "react";

import { Button } from "@/components/Button";
import drawer from "@/components/Drawer.module.css";
import { Icon } from "@/components/Icon";

import classes from "./Secret.module.css";
import { t } from "./texts";

const DAY = 24 * 60 * 60 * 1000;
const LIFETIMES = { never: null, inADay: DAY, inAWeek: 7 * DAY, inAMonth: 30 * DAY, inAYear: 365 * DAY } as const;
export type Lifetime = keyof typeof LIFETIMES;

export function endOf(lifetime: Lifetime): string | null {
  const lasts = LIFETIMES[lifetime];
  return lasts === null ? null : new Date(Date.now() + lasts).toISOString();
}

interface LifetimeFieldProps {
  offered: readonly Lifetime[];
  value: Lifetime;
  onChange: (value: Lifetime) => void;
}

export function LifetimeField({ offered, value, onChange }: LifetimeFieldProps) {
  return (
    <label className={classes.field}>
      {t("expires")}
      <select
        className={drawer.field}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value as Lifetime)}
      >
        {offered.map((one) => (
          <option key={one} value={one}>
            {t(`lasts.${one}`)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function ShownOnce({ label, value }: { label: string; value: string }) {
  const [copied, setCopied] = useState("");
  return (
    <div className={classes.made} role="status">
      <p>
        <Icon name="info" size={14} />
        {t("copyNow")}
      </p>
      <div>
        <input
          className={`${drawer.field ?? ""} mono`}
          readOnly
          value={value}
          aria-label={label}
          onFocus={(event) => event.currentTarget.select()}
        />
        <Button onClick={() => void navigator.clipboard.writeText(value).then(() => setCopied(value))}>
          {copied === value ? t("copied") : t("copy")}
        </Button>
      </div>
    </div>
  );
}
