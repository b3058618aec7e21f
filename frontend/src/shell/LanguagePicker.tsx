import { useEffect, useRef } from "react";

import { keepLanguage } from "@/languages/choose";
import { type Language, language, LANGUAGES } from "@/languages/language";

import classes from "./LanguagePicker.module.css";
import { notifyError } from "./notify";
import { t } from "./texts";

let picked = false;

/** Languages are named in themselves, so that who chose the wrong one finds the way back. */
export function LanguagePicker({ className }: { className: string }) {
  const select = useRef<HTMLSelectElement>(null);
  useEffect(() => {
    // The frame is a new one since the choice. Of the two pickers one is hidden and takes no focus.
    if (picked) select.current?.focus();
  }, []);
  const pick = (to: Language) => {
    picked = true;
    keepLanguage(to).catch((error: unknown) => {
      picked = false;
      notifyError(t("languageFailed"), error);
    });
  };
  return (
    <select
      ref={select}
      className={`${classes.picker} ${className}`}
      aria-label={t("language")}
      title={t("language")}
      value={language()}
      onChange={(event) => pick(event.currentTarget.value as Language)}
    >
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <option key={tag} value={tag} lang={tag}>
          {name}
        </option>
      ))}
    </select>
  );
}
