import type { ComponentPropsWithRef, ElementType } from "react";

type Tag = "div" | "ol" | "pre";
type ScrollRegionProps<T extends Tag> = Omit<ComponentPropsWithRef<T>, "role" | "tabIndex" | "aria-label"> & {
  as?: T;
  /** What is in it, for those who cannot see it. */
  label: string;
};

/** What scrolls takes the focus, so that the arrow keys scroll it, and says what it is. A list stays a list. */
export function ScrollRegion<T extends Tag = "div">({ as, label, ...rest }: ScrollRegionProps<T>) {
  const Element = (as ?? "div") as ElementType;
  return <Element {...rest} role={as === "ol" ? undefined : "region"} aria-label={label} tabIndex={0} />;
}
