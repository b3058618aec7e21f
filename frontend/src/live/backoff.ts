/** Seconds before the next connection attempt: doubles from 0.5 to 15, and spread by ±30 % so that a restart of the server
 * is not met by every browser at once. `random` is passed in. */
const FIRST = 0.5;
const LONGEST = 15;

export function reconnectDelay(attempt: number, random: () => number): number {
  const base = Math.min(LONGEST, FIRST * 2 ** Math.max(0, attempt - 1));
  return base * (0.7 + 0.6 * random());
}
