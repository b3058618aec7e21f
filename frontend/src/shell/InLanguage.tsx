import { useEffect, useSyncExternalStore } from "react";

import { queryClient } from "@/app/queryClient";
import { language, watchLanguage } from "@/languages/language";

import { Shell } from "./Shell";

/**
 * The whole frame in one language. Texts are read while rendering, so another language is another frame; what the server
 * said is asked for again, because it says it in the language it is asked in.
 */
export function InLanguage() {
  const now = useSyncExternalStore(watchLanguage, language);
  useEffect(() => watchLanguage(() => void queryClient.invalidateQueries()), []);
  return <Shell key={now} />;
}
