import { useComputedColorScheme } from "@mantine/core";
import { useLayoutEffect } from "react";

/** Mantine knows the scheme in force; our tokens read it from `data-theme`. */
export function ThemeAttribute() {
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = scheme;
  }, [scheme]);
  return null;
}
