/** The reasons given last, offered again: this browser's memory, nothing more. */
import { t } from "./texts";

const KEY = "playground-reasons";
const KEPT = 3;
const first = () => [t("outsideTheMaintenanceWindow"), t("wrongZone"), t("overBudget")];

export function recentReasons(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    const reasons = Array.isArray(stored) ? stored.filter((one): one is string => typeof one === "string") : [];
    return reasons.slice(0, KEPT);
  } catch {
    return [];
  }
}

export function rememberReason(reason: string): void {
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify([reason, ...recentReasons().filter((one) => one !== reason)].slice(0, KEPT)),
    );
  } catch {
    // Without storage there is nothing to offer next time, which is all that is lost.
  }
}

export function offeredReasons(): { title: string; reasons: string[] } {
  const recent = recentReasons();
  return recent.length > 0 ? { title: t("recent"), reasons: recent } : { title: t("forExample"), reasons: first() };
}

/** What was typed and not sent, by what it is about: a drawer that was closed by mistake has it again. */
const drafts = new Map<string, string>();

export function draftOf(target: string): string {
  return drafts.get(target) ?? "";
}

export function keepDraft(target: string, text: string): void {
  if (text.trim() === "") drafts.delete(target);
  else drafts.set(target, text);
}
