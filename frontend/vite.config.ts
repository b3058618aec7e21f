import { fileURLToPath } from "node:url";

import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const server = process.env.PLAYGROUND_SERVER ?? "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: {
    host: "127.0.0.1",
    port: 5173,
    proxy: {
      "/api": { target: server },
      "/login": { target: server },
      "/ws": { target: server, ws: true },
    },
  },
  build: { outDir: "dist", manifest: true, target: "es2022", sourcemap: false, cssCodeSplit: true },
  test: { environment: "node", include: ["src/**/*.test.{ts,tsx}"], restoreMocks: true },
});
