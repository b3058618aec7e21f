/** No module imports itself by way of others: types and what is fetched later count, too. */
import ts from "typescript";
import { describe, expect, it } from "vitest";

const files = import.meta.glob<string>("/src/**/*.{ts,tsx}", { eager: true, query: "?raw", import: "default" });

function resolve(from: string, specifier: string): string | undefined {
  if (!/^(@\/|\.)/.test(specifier)) return undefined;
  const path = specifier.startsWith("@/")
    ? `/src/${specifier.slice(2)}`
    : new URL(specifier, `file://${from}`).pathname;
  return [path, `${path}.ts`, `${path}.tsx`, `${path}/index.ts`].find((one) => one in files);
}

function importsOf(sources: Record<string, string>): Map<string, string[]> {
  return new Map(
    Object.entries(sources).map(([path, source]) => {
      const imported = ts.preProcessFile(source).importedFiles.map(({ fileName }) => resolve(path, fileName));
      return [path, imported.filter((one) => one !== undefined)];
    }),
  );
}

/** The modules of the first circle that is met, from the one that closes it; null if there is none. */
function circleIn(imports: ReadonlyMap<string, readonly string[]>): string[] | null {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    path.push(file);
    for (const imported of imports.get(file) ?? []) {
      const circle = visit(imported);
      if (circle) return circle;
    }
    path.pop();
    done.add(file);
    return null;
  };
  for (const file of imports.keys()) {
    const circle = visit(file);
    if (circle) return circle;
  }
  return null;
}

describe("imports", () => {
  it("are in no circle", () => {
    expect(circleIn(importsOf(files))).toBeNull();
  });

  it("are read whatever their form, and a circle of them is found", () => {
    const imports = importsOf({
      "/src/app/App.tsx": 'import { router } from "./router";',
      "/src/app/router.tsx": 'const page = () => import("@/pages/pod/PodPage");',
      "/src/pages/pod/PodPage.tsx": 'export { t } from "./texts";\nimport { useState } from "react";',
      "/src/pages/pod/texts.ts": 'import type { router } from "@/app/router";',
    });
    expect(circleIn(imports)).toEqual([
      "/src/app/router.tsx",
      "/src/pages/pod/PodPage.tsx",
      "/src/pages/pod/texts.ts",
      "/src/app/router.tsx",
    ]);
  });
});
