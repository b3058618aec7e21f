import { type RefObject, type UIEvent, useEffect, useRef, useState } from "react";

/** How far below what is seen rows are made already. */
const AHEAD = "60px";
/** `scrollMargin` is for lists that scroll themselves, `rootMargin` for those that scroll with the page. */
const OPTIONS: IntersectionObserverInit & { scrollMargin: string } = { rootMargin: AHEAD, scrollMargin: AHEAD };

export interface Growing {
  /** Rows to make: `first` at least, and twice as many when what follows them comes into view. */
  made: number;
  /** For the element that stands for the rows that are not made, as high as they would be. */
  rest: RefObject<HTMLLIElement | null>;
  /** For the list: back at its top it is short again. */
  onScroll: (event: UIEvent<HTMLElement>) => void;
}

/** A live list of which only the rows in view are made, for all of them are made anew with every batch. It may scroll itself or with the page. */
export function useGrowing(count: number, first: number): Growing {
  const [made, setMade] = useState(first);
  const rest = useRef<HTMLLIElement>(null);
  const isWhole = count <= made;
  useEffect(() => {
    const element = rest.current;
    if (isWhole || element === null) return undefined;
    // It tells its first observation at once, so a list that is still too short for its window grows on.
    const observer = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) setMade(2 * made);
    }, OPTIONS);
    observer.observe(element);
    return () => observer.disconnect();
  }, [made, isWhole]);
  return {
    made: Math.min(count, made),
    rest,
    onScroll: (event) => {
      if (event.currentTarget.scrollTop === 0) setMade(first);
    },
  };
}
