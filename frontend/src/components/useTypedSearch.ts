import { useEffect, useState } from "react";

const TYPED = 250;

/**
 * The text of a search field, which goes into the address once nothing was typed for a moment: `[text, setText]`. When the
 * address changes otherwise (back, a link that shows everything) the field follows it.
 */
export function useTypedSearch(
  asked: string | undefined,
  ask: (q: string | undefined) => void,
): [string, (text: string) => void] {
  const [text, setText] = useState(asked ?? "");
  const [before, setBefore] = useState(asked);
  const [own, setOwn] = useState(asked);
  if (asked !== before) {
    setBefore(asked);
    // What this field asked for itself arrives later than it was typed, when more may have been typed.
    if (asked !== own) {
      setOwn(asked);
      setText(asked ?? "");
    }
  }
  useEffect(() => {
    const timer = window.setTimeout(() => {
      const typed = text.trim() === "" ? undefined : text.trim();
      if (typed === asked) return;
      setOwn(typed);
      ask(typed);
    }, TYPED);
    return () => window.clearTimeout(timer);
  }, [text, asked, ask]);
  return [text, setText];
}
