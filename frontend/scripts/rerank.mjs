/**
 * Ranks attempts as the browser does: JSON lines `{matrix, tries: [{plugin: weight}]}` in, `[{total, tied, winner, settled}]`
 * out. For the test that holds src/pages/pod/whatIf/ranking.ts against the engine.
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

import typescript from "typescript";

const source = readFileSync(new URL("../src/pages/pod/whatIf/ranking.ts", import.meta.url), "utf-8");
const { outputText } = typescript.transpileModule(source, { compilerOptions: { module: "esnext", target: "es2022" } });
const { matrixOf, rerank } = await import(`data:text/javascript;base64,${Buffer.from(outputText).toString("base64")}`);

for await (const line of createInterface({ input: process.stdin })) {
  const { matrix: answer, tries } = JSON.parse(line);
  const matrix = matrixOf(answer);
  const ranked = tries.map((weights) => {
    const { total, tied, winner, settled, rank } = rerank(matrix, new Map(Object.entries(weights)));
    return { total: [...total], rank: [...rank], tied, winner, settled };
  });
  process.stdout.write(`${JSON.stringify(ranked)}\n`);
}
