/** Ages, countdowns and moments as the pages write them. All take milliseconds or ISO-8601; none reads the clock. */
import { written } from "@/languages/area";
import { language } from "@/languages/language";

import { t } from "./texts";

/** "0.4s", "54s", "2m 14s", "3h 5m", "12d". */
export function age(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 0.05) return t("age.seconds", { seconds: 0 });
  if (seconds < 9.95) return t("age.seconds", { seconds: oneDecimal(seconds) });
  const whole = Math.round(seconds);
  if (whole < 60) return t("age.seconds", { seconds: whole });
  const minutes = Math.floor(whole / 60);
  if (minutes < 60)
    return whole % 60 === 0 ? t("age.minutes", { minutes }) : t("age.minutesSeconds", { minutes, seconds: whole % 60 });
  const hours = Math.floor(minutes / 60);
  if (hours < 48)
    return minutes % 60 === 0 ? t("age.hours", { hours }) : t("age.hoursMinutes", { hours, minutes: minutes % 60 });
  return t("age.days", { days: Math.floor(hours / 24) });
}

/** "0:38", "13:20", "1:02:03"; a started second counts as whole, so the last thing shown is 0:01. */
export function countdown(milliseconds: number): string {
  const left = Math.max(0, Math.ceil(milliseconds / 1000));
  const hours = Math.floor(left / 3600);
  const minutes = Math.floor((left % 3600) / 60);
  const seconds = String(left % 60).padStart(2, "0");
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
}

/** The short form inside a ring: "0.8", "3.7", "12". */
export function shortSeconds(milliseconds: number): string {
  const seconds = Math.max(0, milliseconds) / 1000;
  return seconds < 9.95 ? oneDecimal(seconds) : String(Math.round(seconds));
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

/** Run time, in UTC as everything in a cluster: "10:01:22.418". */
export function runTime(iso: string, withMilliseconds = true): string {
  const moment = new Date(iso);
  if (Number.isNaN(moment.getTime())) return iso;
  const clock = `${two(moment.getUTCHours())}:${two(moment.getUTCMinutes())}:${two(moment.getUTCSeconds())}`;
  return withMilliseconds ? `${clock}.${String(moment.getUTCMilliseconds()).padStart(3, "0")}` : clock;
}

/** The exact moment for a hover, to the millisecond. */
export function exact(iso: string): string {
  return iso
    .replace("T", " ")
    .replace(/(\.\d{3})\d+/, "$1")
    .replace(/Z$/, " UTC");
}

/** Wall time of the reader, of an ISO-8601 moment: "10:01". */
export function shortWallTime(iso: string): string {
  const moment = new Date(iso);
  return `${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** Wall time of the reader: "10:01:22". */
export function wallTime(milliseconds: number): string {
  const moment = new Date(milliseconds);
  return `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
}

/** "today 09:57", "yesterday", "17 Nov", "17 Nov 2025", also of days to come; `timeFirst` gives "09:57 today". */
export function day(iso: string, now: number, timeFirst = false): string {
  const moment = new Date(iso);
  const today = new Date(now);
  const clock = clockOf(moment);
  const sinceMidnight = moment.getTime() - midnightOf(today);
  if (sinceMidnight >= 0 && moment.toDateString() === today.toDateString())
    return timeFirst ? t("todayTimeFirst", { clock }) : t("today", { clock });
  if (sinceMidnight < 0 && sinceMidnight >= -86_400_000) return t("yesterday");
  const year = moment.getFullYear() === today.getFullYear() ? {} : { year: "numeric" as const };
  return new Intl.DateTimeFormat(language() === "en" ? "en-GB" : language(), {
    day: "numeric",
    month: "short",
    ...year,
  }).format(moment);
}

/** "today 09:57", "17 Nov, 09:57". */
export function dayAndTime(iso: string, now: number): string {
  const moment = new Date(iso);
  const isToday = moment.toDateString() === new Date(now).toDateString();
  return isToday ? day(iso, now) : `${day(iso, now)}, ${clockOf(moment)}`;
}

/** What a field of date and time in the reader's own time holds: "2026-11-17T09:57:03". */
export function localMoment(iso: string): string {
  const moment = new Date(iso);
  const date = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${date}T${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
}

/** Of such a field, as ISO-8601 in UTC; null of what is no time. */
export function isoOfLocal(text: string): string | null {
  const moment = new Date(text);
  return text === "" || Number.isNaN(moment.getTime()) ? null : moment.toISOString();
}

/** The same where today goes without saying: "09:57", "yesterday", "17 Nov". */
export function sinceDay(iso: string, now: number): string {
  const moment = new Date(iso);
  return moment.getTime() >= midnightOf(new Date(now)) ? clockOf(moment) : day(iso, now);
}

function midnightOf(today: Date): number {
  return new Date(today.getFullYear(), today.getMonth(), today.getDate()).getTime();
}

function clockOf(moment: Date): string {
  return `${two(moment.getHours())}:${two(moment.getMinutes())}`;
}

/** Always one place after the separator: "0.4", "3.0"; "0,4" where that is how it is written. */
function oneDecimal(value: number): string {
  return written(value, 1);
}

/** "1 s to 8 s" style seconds in prose: "0.1 s", "46.2 s", "5 min". */
export function seconds(value: number): string {
  if (value >= 120 && value % 60 === 0) return t("minutes", { minutes: value / 60 });
  return t("seconds", { seconds: value < 9.95 ? Math.round(value * 10) / 10 : Math.round(value) });
}
