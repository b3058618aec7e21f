import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from "@mantine/core";

// Mantine wants ten shades for its primary colour. Ours is ink, whose value depends on the theme, so all ten are the token.
const ink = Array.from({ length: 10 }, () => "var(--c-ink)") as unknown as MantineColorsTuple;

export const theme = createTheme({
  primaryColor: "ink",
  colors: { ink },
  defaultRadius: 5,
  fontFamily: "var(--font-sans)",
  fontFamilyMonospace: "var(--font-mono)",
  fontSizes: { xs: "11px", sm: "12px", md: "13px", lg: "14px", xl: "16px" },
  lineHeights: { xs: "16px", sm: "16px", md: "20px", lg: "20px", xl: "24px" },
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "16px", xl: "24px" },
  radius: { xs: "3px", sm: "5px", md: "7px", lg: "10px", xl: "999px" },
  headings: { fontFamily: "var(--font-sans)", fontWeight: "620" },
  respectReducedMotion: true,
  cursorType: "pointer",
});

const shared = {
  "--mantine-color-body": "var(--c-canvas)",
  "--mantine-color-text": "var(--c-text)",
  "--mantine-color-dimmed": "var(--c-text-3)",
  "--mantine-color-placeholder": "var(--c-text-3)",
  "--mantine-color-default": "var(--c-surface)",
  "--mantine-color-default-hover": "var(--c-hover)",
  "--mantine-color-default-color": "var(--c-text)",
  "--mantine-color-default-border": "var(--c-border-control)",
  "--mantine-color-anchor": "var(--c-text)",
  "--mantine-color-error": "var(--c-danger)",
  "--mantine-color-disabled": "var(--c-canvas)",
  "--mantine-color-disabled-color": "var(--c-text-disabled)",
  "--mantine-color-disabled-border": "var(--c-border-strong)",
  "--mantine-primary-color-filled": "var(--c-ink)",
  "--mantine-primary-color-filled-hover": "var(--c-ink-hover)",
  "--mantine-primary-color-contrast": "var(--c-on-ink)",
  "--mantine-color-dark-6": "var(--c-raised)",
  "--mantine-shadow-md": "var(--shadow-2)",
  "--mantine-shadow-xl": "var(--shadow-3)",
};

/** Mantine's own variables point at our tokens, which already know light from dark. */
export const cssVariablesResolver: CSSVariablesResolver = () => ({ variables: shared, light: shared, dark: shared });
