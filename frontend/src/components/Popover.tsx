/** A box that floats over the page beside its button, so that nothing moves when it opens. Esc closes it and the button has the focus again. */
import { type ReactNode, type Ref, useEffect, useRef } from "react";

import { useEscape } from "@/keys/useEscape";

import classes from "./Popover.module.css";
import { t } from "./texts";

interface PopoverProps {
  label: string;
  open: boolean;
  onOpen: (open: boolean) => void;
  button: (props: {
    ref: Ref<HTMLButtonElement>;
    "aria-expanded": boolean;
    "aria-haspopup": "dialog";
    onClick: () => void;
  }) => ReactNode;
  children: ReactNode;
  className?: string | undefined;
}

export function Popover({ label, open, onOpen, button, children, className }: PopoverProps) {
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  return (
    <div className={`${classes.anchor} ${className ?? ""}`} ref={box}>
      {button({ ref: opener, "aria-expanded": open, "aria-haspopup": "dialog", onClick: () => onOpen(!open) })}
      {open ? (
        <Box
          label={label}
          around={box}
          onClose={(byKey) => {
            onOpen(false);
            if (byKey) opener.current?.focus();
          }}
        >
          {children}
        </Box>
      ) : null}
    </div>
  );
}

interface BoxProps {
  label: string;
  around: { current: HTMLElement | null };
  onClose: (byKey: boolean) => void;
  children: ReactNode;
}

function Box({ label, around, onClose, children }: BoxProps) {
  const box = useRef<HTMLDivElement>(null);
  useEscape(true, { label: t("closeThis", { label }), group: t("thisPage"), close: () => onClose(true) });
  const close = useRef(onClose);
  useEffect(() => {
    close.current = onClose;
  });
  useEffect(() => {
    box.current?.focus();
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && around.current?.contains(event.target) === false) close.current(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [around]);
  return (
    <div ref={box} className={classes.box} role="dialog" aria-label={label} tabIndex={-1}>
      {children}
    </div>
  );
}
