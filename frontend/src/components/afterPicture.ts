/**
 * Calls back once the next picture is on its way, and answers how to call it off: for what follows from a click but is
 * not its answer. A timer set before a picture is due after it; a hidden tab has none until somebody looks again.
 */
export function afterPicture(callback: () => void): () => void {
  let timer = 0;
  const frame = requestAnimationFrame(() => {
    timer = window.setTimeout(callback, 0);
  });
  return () => {
    cancelAnimationFrame(frame);
    window.clearTimeout(timer);
  };
}
