import type { ComponentProps, ReactNode } from "react";

import classes from "./Panel.module.css";

export function Panel({ className, ...rest }: ComponentProps<"section">) {
  return <section {...rest} className={`${classes.panel} ${className ?? ""}`} />;
}

/** The 40 px line at a panel's top; `children` stand right of the title. */
export function PanelHeader({ title, id, children }: { title: ReactNode; id?: string; children?: ReactNode }) {
  return (
    <div className={classes.header}>
      <h2 id={id}>{title}</h2>
      {children}
    </div>
  );
}

/** The page's `main` with the common width and edges; pages that fill the window bring their own. */
export function Page({ className, ...rest }: ComponentProps<"div">) {
  return <div {...rest} className={`${classes.page} ${className ?? ""}`} />;
}
