import { Children, type ReactNode } from "react";

import classes from "./Breadcrumbs.module.css";
import { Icon } from "./Icon";
import { t } from "./texts";

/** The way to this page: links to what it is part of, then what it is. */
export function Breadcrumbs({ children }: { children: ReactNode }) {
  return (
    <nav className={classes.crumbs} aria-label={t("breadcrumbs")}>
      {Children.toArray(children).map((part, place) => (
        <span key={place} className={classes.part}>
          {place === 0 ? null : <Icon name="chevronRight" size={11} />}
          {part}
        </span>
      ))}
    </nav>
  );
}
