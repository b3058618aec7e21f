import { addLanguage, type Bundle } from "./area";
import { firstKnown, type Language, LANGUAGE_KEY, setLanguage } from "./language";

const FETCH: Record<Exclude<Language, "en">, () => Promise<{ default: Bundle }>> = {
  uk: () => import("./uk"),
  "zh-CN": () => import("./zh-CN"),
};

function stored(): string | null {
  try {
    return localStorage.getItem(LANGUAGE_KEY);
  } catch {
    return null;
  }
}

/** Fetches the language's texts, then shows them. Throws when they cannot be fetched; the language then stays what it was. */
export async function chooseLanguage(to: Language): Promise<void> {
  if (to !== "en") addLanguage(to, (await FETCH[to]()).default);
  document.documentElement.lang = to;
  setLanguage(to);
}

export async function keepLanguage(to: Language): Promise<void> {
  await chooseLanguage(to);
  try {
    localStorage.setItem(LANGUAGE_KEY, to);
  } catch {
    // Storage can be forbidden; the choice then lasts as long as the page.
  }
}

/** Before the first paint. `?lang=` is kept, as if it had been picked. English when the texts cannot be fetched. */
export async function beginLanguage(): Promise<void> {
  const asked = new URLSearchParams(location.search).get("lang");
  const wanted = firstKnown([asked, stored(), ...navigator.languages]);
  try {
    await (asked === null ? chooseLanguage(wanted) : keepLanguage(wanted));
  } catch (error) {
    console.error(`The texts of ${wanted} could not be fetched.`, error);
  }
}
