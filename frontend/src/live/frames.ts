/**
 * When a live page is drawn anew. What the last drawing cost, up to its picture, is measured, and then the page is left
 * alone for a multiple of that: a click finds it free four times of five, however slow the machine is.
 */
export interface FrameEnvironment {
  now: () => number;
  setTimer: (callback: () => void, milliseconds: number) => unknown;
  /** Calls back before the next picture; in a hidden tab there is none until somebody looks again. */
  beforePicture: (callback: () => void) => unknown;
}

const REST = 4;
const LONGEST_REST = 500;

export function pacedFrames({ now, setTimer, beforePicture }: FrameEnvironment): (draw: () => void) => void {
  let freeAt = 0;
  return function frame(draw) {
    const wait = freeAt - now();
    if (wait > 0) {
      setTimer(() => frame(draw), wait);
      return;
    }
    beforePicture(() => {
      if (now() < freeAt) {
        frame(draw);
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
  };
}

export function browserFrames(): (draw: () => void) => void {
  return pacedFrames({
    now: () => performance.now(),
    setTimer: (callback, milliseconds) => window.setTimeout(callback, milliseconds),
    beforePicture: (callback) => requestAnimationFrame(callback),
  });
}
