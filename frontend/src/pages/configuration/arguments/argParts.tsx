/** What the fields of arguments and their templates share: their labels, and the error and the help that are tied to them. */
import { Icon } from "@/components/Icon";

import classes from "./ArgsForm.module.css";

/** Without the parts that a list's frame shows already. */
export function labelOf(path: readonly (string | number)[]): string {
  const last = path.findLastIndex((part) => typeof part === "number");
  return path.slice(last + 1).join(".");
}

export function describedBy(id: string, hasError: boolean): string {
  return hasError ? `${id}__error ${id}__help` : `${id}__help`;
}

export function Errors({ id, messages }: { id: string; messages: readonly string[] | undefined }) {
  if (messages === undefined || messages.length === 0) return null;
  return (
    <p className={classes.error} id={`${id}__error`}>
      <Icon name="warning" size={14} />
      <span>{messages.join(". ")}</span>
    </p>
  );
}
