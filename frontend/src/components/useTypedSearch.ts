import { useEffect, useState } from "react";

const TYPED = 250;

/** The text of a search field, which goes into the address once nothing was typed for a moment: `[text, setText]`. */
export function useTypedSearch(asked: string | undefined, ask: (q: string | undefined) => void): [string, (text: string) => void] {
  const [text, setText] = useState(asked ?? "");
  useEffect(() => {
    const timer = window.setTimeout(() => {
      const typed = text.trim();
      if (typed !== (asked ?? "")) ask(typed === "" ? undefined : typed);
    }, TYPED);
    return () => window.clearTimeout(timer);
  }, [text, asked, ask]);
  return [text, setText];
}
