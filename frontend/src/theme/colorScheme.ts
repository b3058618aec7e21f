/**
 * Light, dark or the system's choice. The choice is kept in localStorage under the key public/theme.js reads before the
 * first paint; Mantine is told through its colour scheme manager interface.
 */
import type { MantineColorScheme, MantineColorSchemeManager } from "@mantine/core";

export const THEME_KEY = "playground-theme";

export function storedScheme(): MantineColorScheme {
  try {
    const value = localStorage.getItem(THEME_KEY);
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto";
  }
}

export const schemeManager: MantineColorSchemeManager = {
  get: () => storedScheme(),
  set: (value) => {
    try {
      localStorage.setItem(THEME_KEY, value);
    } catch {
      // Storage can be forbidden; the choice then lasts as long as the page.
    }
  },
  subscribe: () => undefined,
  unsubscribe: () => undefined,
  clear: () => localStorage.removeItem(THEME_KEY),
};

export const NEXT_SCHEME: Record<MantineColorScheme, MantineColorScheme> = {
  light: "dark",
  dark: "auto",
  auto: "light",
};
