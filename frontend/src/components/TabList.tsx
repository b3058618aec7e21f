/** Tabs over one panel: one stop of the keyboard, arrows inside. The panel is the caller's, with the id that `controls` names. */
import { type KeyboardEvent, type ReactNode, useRef } from "react";

export interface TabOption<T extends string> {
  value: T;
  label: ReactNode;
  /** The whole of a label that has little room. */
  title?: string | undefined;
  className?: string | undefined;
}

interface TabListProps<T extends string> {
  label: string;
  value: T;
  tabs: readonly TabOption<T>[];
  onChange: (value: T) => void;
  className?: string | undefined;
  tabClass?: string | undefined;
  /** Of the tab itself, so that its panel can be labelled by it. */
  idOf?: (value: T) => string;
  controls?: ((value: T) => string) | undefined;
}

export function TabList<T extends string>({
  label,
  value,
  tabs,
  onChange,
  className,
  tabClass,
  idOf,
  controls,
}: TabListProps<T>) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.value === value);
    const to =
      event.key === "ArrowRight"
        ? at + 1
        : event.key === "ArrowLeft"
          ? at - 1
          : event.key === "Home"
            ? 0
            : event.key === "End"
              ? tabs.length - 1
              : null;
    const next = to === null ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onChange(next.value);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[tabs.indexOf(next)]?.focus();
  };
  return (
    <div ref={list} role="tablist" aria-label={label} className={className} onKeyDown={move} tabIndex={-1}>
      {tabs.map((tab) => (
        <button
          key={tab.value}
          type="button"
          role="tab"
          id={idOf?.(tab.value)}
          aria-selected={tab.value === value}
          tabIndex={tab.value === value ? 0 : -1}
          title={tab.title}
          aria-controls={controls?.(tab.value)}
          className={`${tabClass ?? ""} ${tab.className ?? ""}`}
          onClick={() => onChange(tab.value)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
