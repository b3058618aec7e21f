/**
 * When a live page is drawn anew. What the last drawing cost, up to its picture, is measured, and then the page is left
 * alone for a multiple of that: a click finds it free four times of five, however slow the machine is. While a hand is
 * moving the page waits, too, so that nothing moves away from under a pointer and the answer to a click is drawn first.
 */
export interface FrameEnvironment {
  now: () => number;
  setTimer: (callback: () => void, milliseconds: number) => unknown;
  /** Calls back before the next picture; in a hidden tab there is none until somebody looks again. */
  beforePicture: (callback: () => void) => unknown;
  /** When somebody last moved the pointer, pressed something or scrolled, on the clock of ``now``. */
  touchedAt: () => number;
}

const REST = 4;
const LONGEST_REST = 500;
const HAND_RESTS = 150;
/** A hand that never rests does not stop the page. */
const LONGEST_WAIT = 500;

export function pacedFrames({ now, setTimer, beforePicture, touchedAt }: FrameEnvironment): (draw: () => void) => void {
  let freeAt = 0;
  function frame(draw: () => void, asked: number) {
    const again = () => frame(draw, asked);
    /** Milliseconds until it may be drawn. */
    const wait = () => Math.max(freeAt, Math.min(touchedAt() + HAND_RESTS, asked + LONGEST_WAIT)) - now();
    if (wait() > 0) {
      setTimer(again, wait());
      return;
    }
    beforePicture(() => {
      if (wait() > 0) {
        again();
        return;
      }
      const began = now();
      draw();
      // A timer set before the picture is due after it.
      setTimer(() => {
        const ended = now();
        freeAt = ended + Math.min(LONGEST_REST, REST * (ended - began));
      }, 0);
    });
  }
  return (draw) => frame(draw, now());
}

let touched = -Infinity;

/** From now on the page knows when it is touched. */
export function feelTouch(page: Pick<Window, "addEventListener">): void {
  for (const kind of ["pointermove", "pointerdown", "pointerup", "keydown", "wheel", "touchmove"]) {
    page.addEventListener(
      kind,
      () => {
        touched = performance.now();
      },
      { capture: true, passive: true },
    );
  }
}

export function browserFrames(): (draw: () => void) => void {
  return pacedFrames({
    now: () => performance.now(),
    setTimer: (callback, milliseconds) => window.setTimeout(callback, milliseconds),
    beforePicture: (callback) => requestAnimationFrame(callback),
    touchedAt: () => touched,
  });
}
