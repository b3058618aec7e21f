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
  build: {
    outDir: "dist",
    manifest: true,
    target: "es2022",
    rolldownOptions: {
      output: {
        // What every page needs in two files instead of fifty: better compressed, and the first does not change with our code.
        codeSplitting: {
          groups: [
            {
              name: "vendor",
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-router|router-core|history|react-store|store|query-core|react-query))\//,
            },
            {
              name: "shared",
              test: /src\/(api|components|filter|format|keys|languages|live|theme)\/(?!uk\/|zh-CN\/).+\.tsx?$/,
            },
          ],
        },
      },
    },
  },
  test: {
    // Vitest leaves one processor free otherwise, which is every second one of a small machine.
    maxWorkers: "100%",
    // A test that takes long says how busy the machine is; this is for those that never end.
    testTimeout: 60_000,
    environment: "node",
    restoreMocks: true,
    projects: [
      // Functions, which keep nothing between two files: what one file has imported serves the next.
      { extends: true, test: { name: "functions", include: ["src/**/*.test.ts"], isolate: false } },
      { extends: true, test: { name: "components", include: ["src/**/*.test.tsx"] } },
    ],
  },
});
