/** How many score rows are read at once: the best fifty first, then window by window. */
export const TOP = 50;
/** Shown before the reader asks for more. */
export const SHOWN = 12;
