/**
 * Where a moment of a pod's journey stands on the axis. Queue times span six orders of magnitude, and on a virtual clock a
 * whole attempt may take no time at all, so the axis is piecewise: every stay in a queue has at least `SHORTEST` of the
 * axis, in the order it happened, and a stay longer than 60 % of it is folded with a break mark.
 */
import type { StateKey } from "@/api/types";
import type { Journey } from "@/api/podTypes";

export interface Stay {
  queue: StateKey;
  start: number;
  /** Null while it lasts. */
  end: number | null;
  /** Percent of the axis. */
  left: number;
  width: number;
  folded: boolean;
}

export interface Mark {
  at: number;
  left: number;
  text: string;
  strong: boolean;
  /** More events at (nearly) the same place, newest last. */
  more: string[];
}

export interface JourneyLayout {
  start: number;
  end: number;
  stays: Stay[];
  marks: Mark[];
  ticks: { at: number; left: number }[];
}

export const SHORTEST = 1.6;
const FOLD_OVER = 0.6;
const FOLDED_TO = 0.45;
/** How things follow each other when the clock does not tell. */
const FLOW: readonly StateKey[] = ["gated", "backoff", "active", "in_flight", "waiting", "unschedulable", "bound"];
const MARKS_APART = 3;
const TICKS_APART = 11;

interface Piece {
  from: number;
  to: number;
  left: number;
  width: number;
}

function isQueue(queue: string): queue is StateKey {
  return (FLOW as readonly string[]).includes(queue);
}

/** Shares of 100 for durations: everything at least `SHORTEST`, what is too long folded, the rest in proportion. */
export function shares(durations: readonly number[]): { width: number; folded: boolean }[] {
  if (durations.length === 0) return [];
  const total = durations.reduce((sum, one) => sum + one, 0);
  const least = Math.min(SHORTEST, 60 / durations.length);
  const folded = durations.map((one) => durations.length > 2 && total > 0 && one / total > FOLD_OVER);
  const rest = durations.reduce((sum, one, index) => sum + (folded[index] === true ? 0 : one), 0);
  const weights = durations.map((one, index) => {
    if (folded[index] === true) return rest === 0 ? 1 : FOLDED_TO / (1 - FOLDED_TO);
    return rest === 0 ? 0 : one / rest;
  });
  const sum = weights.reduce((all, one) => all + one, 0);
  const room = 100 - least * durations.length;
  return weights.map((weight, index) => ({
    width: least + room * (sum === 0 ? 1 / durations.length : weight / sum),
    folded: folded[index] === true,
  }));
}

export function layOut(journey: Journey, now: number): JourneyLayout {
  const start = Date.parse(journey.start);
  const spans = journey.lanes.flatMap((lane) =>
    isQueue(lane.queue)
      ? lane.spans.map((span) => ({
          queue: lane.queue as StateKey,
          start: Date.parse(span.start),
          end: span.end === null ? null : Date.parse(span.end),
        }))
      : [],
  );
  const end = Math.max(now, Date.parse(journey.end), ...spans.map((span) => span.end ?? span.start));
  spans.sort(
    (a, b) =>
      a.start - b.start || (a.end ?? Infinity) - (b.end ?? Infinity) || FLOW.indexOf(a.queue) - FLOW.indexOf(b.queue),
  );
  // A pod that is gone is in no queue any more: its last bar ends before "now".
  const gone = spans.length > 0 && spans.every((span) => span.end !== null);
  const goneAt = Math.max(start, ...spans.map((span) => span.end ?? end));
  const durations = spans.map((span) => Math.max(0, (span.end ?? end) - span.start));
  const widths = shares(gone ? [...durations, end - goneAt] : durations);
  let left = 0;
  const pieces: Piece[] = [];
  const stays = spans.map((span, index): Stay => {
    const { width, folded } = widths[index] ?? { width: 0, folded: false };
    const stay = { ...span, left, width, folded };
    pieces.push({ from: span.start, to: span.end ?? end, left, width });
    left += width;
    return stay;
  });
  if (gone) pieces.push({ from: goneAt, to: end, left, width: 100 - left });
  // What took it away stands where its last bar ends, also when no time passed on the run's clock since it came.
  const place = (at: number, isLast: boolean) => (gone && isLast && at >= goneAt ? left : placeOf(pieces, at));
  return {
    start,
    end,
    stays,
    marks: gather(
      journey.events.map((event, index) => ({
        at: Date.parse(event.at),
        left: place(Date.parse(event.at), index === journey.events.length - 1),
        text: event.text,
        strong: event.strong ?? false,
        more: [],
      })),
    ),
    ticks: ticksOf(stays, end),
  };
}

/** A moment at a border belongs to the stay that begins there; where several begin at once, to the first of them. */
function placeOf(pieces: readonly Piece[], at: number): number {
  const begins = pieces.find((piece) => piece.from === at);
  if (begins !== undefined) return begins.left;
  const inside = pieces.find((piece) => at > piece.from && at < piece.to);
  if (inside !== undefined) return inside.left + (inside.width * (at - inside.from)) / (inside.to - inside.from);
  return pieces.length > 0 && at < (pieces[0]?.from ?? 0) ? 0 : 100;
}

/** Events closer than three percent are one mark, named after the first strong one. */
function gather(marks: Mark[]): Mark[] {
  const gathered: Mark[] = [];
  for (const mark of marks.sort((a, b) => a.left - b.left || a.at - b.at)) {
    const last = gathered.at(-1);
    if (last === undefined || mark.left - last.left >= MARKS_APART) {
      gathered.push(mark);
    } else if (mark.strong && !last.strong) {
      gathered[gathered.length - 1] = { ...mark, left: last.left, more: [...last.more, last.text] };
    } else {
      last.more.push(mark.text);
    }
  }
  return gathered;
}

function ticksOf(stays: readonly Stay[], end: number): { at: number; left: number }[] {
  const ticks: { at: number; left: number }[] = [];
  for (const stay of stays) {
    const last = ticks.at(-1);
    if (last === undefined || (stay.left - last.left >= TICKS_APART && stay.start !== last.at))
      ticks.push({ at: stay.start, left: stay.left });
  }
  while (ticks.length > 1 && 100 - (ticks.at(-1)?.left ?? 0) < TICKS_APART) ticks.pop();
  return [...ticks, { at: end, left: 100 }];
}
