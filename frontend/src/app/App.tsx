import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";

import { schemeManager } from "@/theme/colorScheme";
import { cssVariablesResolver, theme } from "@/theme/theme";
import { ThemeAttribute } from "@/theme/ThemeAttribute";

import { queryClient } from "./queryClient";
import { router } from "./router";
import { styleNonce } from "./styleNonce";

export function App() {
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariablesResolver}
      colorSchemeManager={schemeManager}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
    >
      <ThemeAttribute />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}
