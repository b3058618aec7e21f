import { fixed, rounded } from "./number";
import { t } from "./texts";

/** Microseconds as "4 µs", "0.28 ms", "4.6 ms", "120 ms". */
export function milliseconds(us: number): string {
  if (us < 10) return t("microseconds", { microseconds: rounded(us, us < 1 ? 1 : 0) });
  const value = us / 1000;
  return t("milliseconds", { milliseconds: fixed(value, value < 1 ? 2 : value < 10 ? 1 : 0) });
}
