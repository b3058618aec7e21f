import { createLink } from "@tanstack/react-router";
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ReactNode, Ref } from "react";

import { useRefusal } from "@/live/useLive";
import { notify } from "@/shell/notify";

import classes from "./Button.module.css";
import { Icon, type IconName } from "./Icon";

/** One `primary` per area; `danger` is the outline, `danger-solid` the last step of something that cannot be undone. */
export type ButtonKind = "default" | "primary" | "ghost" | "danger" | "danger-solid";

interface Look {
  kind?: ButtonKind;
  size?: "md" | "sm";
  icon?: IconName | undefined;
  /** The key that does the same, shown as a hint. */
  hint?: string | undefined;
  children?: ReactNode;
}

/** `sends`: what it does needs the server. While that does not answer the button is off, keeps its focus and says why. */
interface Sending {
  sends?: boolean;
}

type ButtonProps = Look & Sending & ButtonHTMLAttributes<HTMLButtonElement> & { ref?: Ref<HTMLButtonElement> };

type Clickable = Pick<ButtonHTMLAttributes<HTMLButtonElement>, "title" | "onClick" | "aria-disabled">;

/** What a button that sends has instead of its own title and click while the server does not answer. */
export function useSending(sends: boolean): Clickable {
  const why = useRefusal();
  return !sends || why === null
    ? {}
    : {
        title: why,
        "aria-disabled": true,
        onClick: (event) => {
          event.preventDefault();
          notify({ kind: "error", title: why });
        },
      };
}

function Content({ icon, hint, size, children }: Look) {
  return (
    <>
      {icon === undefined ? null : <Icon name={icon} size={size === "sm" ? 12 : 14} />}
      {children}
      {hint === undefined ? null : <kbd aria-hidden="true">{hint}</kbd>}
    </>
  );
}

export function Button({
  kind = "default",
  size = "md",
  icon,
  hint,
  children,
  className,
  sends = false,
  ...rest
}: ButtonProps) {
  const refused = useSending(sends);
  return (
    <button
      type="button"
      {...rest}
      {...refused}
      className={`${classes.button} ${className ?? ""}`}
      data-kind={kind}
      data-size={size}
      {...(hint === undefined ? {} : { "aria-keyshortcuts": hint })}
    >
      <Content icon={icon} hint={hint} size={size}>
        {children}
      </Content>
    </button>
  );
}

type AnchorProps = Look & AnchorHTMLAttributes<HTMLAnchorElement> & { ref?: Ref<HTMLAnchorElement> };

/** An ordinary address: downloads, and what the server renders. */
export function ButtonAnchor({ kind = "default", size = "md", icon, hint, children, className, ...rest }: AnchorProps) {
  return (
    <a {...rest} className={`${classes.button} ${className ?? ""}`} data-kind={kind} data-size={size}>
      <Content icon={icon} hint={hint} size={size}>
        {children}
      </Content>
    </a>
  );
}

/** A router link that looks like a button; takes `to`, `params` and `search` like `Link`. */
export const ButtonLink = createLink(ButtonAnchor);

interface IconButtonProps extends Sending, ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** The accessible name and the tooltip. */
  label: string;
  iconSize?: number;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon, label, iconSize = 16, className, sends = false, ...rest }: IconButtonProps) {
  const refused = useSending(sends);
  return (
    <button
      type="button"
      title={label}
      aria-label={label}
      {...rest}
      {...refused}
      className={`${classes.icon} ${className ?? ""}`}
    >
      <Icon name={icon} size={iconSize} />
    </button>
  );
}
