/** No words for people stand in the code outside of JSX, where the linter looks: in constants, helpers and columns of tables. */
import ts from "typescript";
import { expect, it } from "vitest";

const files = import.meta.glob<string>("/src/**/*.{ts,tsx}", { eager: true, query: "?raw", import: "default" });
const sources = Object.entries(files).filter(([path]) => !/\.test\.|\.d\.ts$|^\/src\/testing\//.test(path));

/** The same in every language, or read by no person. */
const NOT_WORDS: ReadonlySet<string> = new Set([
  // Kubernetes' names, units and formats.
  "Filter",
  "Score",
  "Reserve",
  "Permit",
  "Bind",
  "GPU",
  " GPU",
  " cpu",
  " UTC",
  "YAML",
  "JSON",
  "Ctrl+",
  "Alt+",
  "Ctrl Enter",
  "Ctrl S",
  // The product's name; values that are only compared.
  "Scheduling Playground",
  "first found",
  "same draw",
  "deadline ",
  "gang ",
]);
/** Properties that hold what is shown. */
const SHOWN =
  /^(word|words|header|label|title|text|detail|plain|empty|help|hint|sentence|message|placeholder|what|said)$/;
/** Functions whose arguments are for programs. */
const PROGRAMS =
  /(^|\.)(t|rich|import|Error|DOMException|error|closest|querySelector(All)?|startsWith|endsWith|matchMedia|useMediaQuery|getPropertyValue|area|getRouteApi|pathOf|useState|setRequestHeader)$/;
const CODE =
  /^(className|style|to|from|data-.*|key|id|htmlFor|name|type|role|icon|kind|state|value|accept|position|aria-(keyshortcuts|labelledby|describedby|controls))$/;

function isForPrograms(node: ts.Node): boolean {
  let isArgument = true;
  for (let at: ts.Node = node; !ts.isSourceFile(at) && !ts.isStatement(at); at = at.parent) {
    if (ts.isTypeNode(at) || ts.isImportDeclaration(at)) return true;
    const { parent } = at;
    if (
      isArgument &&
      (ts.isCallExpression(parent) || ts.isNewExpression(parent)) &&
      at !== parent.expression &&
      PROGRAMS.test(parent.expression.getText())
    )
      return true;
    if (ts.isJsxAttribute(parent) && CODE.test(parent.name.getText())) return true;
    if (ts.isBinaryExpression(parent) && /^([!=]==|in)$/.test(parent.operatorToken.getText())) return true;
    if (ts.isCaseClause(parent) || ts.isElementAccessExpression(parent) || ts.isImportDeclaration(parent)) return true;
    if (ts.isPropertyAssignment(parent) && parent.name === at) return true;
    if (ts.isCallExpression(parent) || ts.isPropertyAssignment(parent)) isArgument = false;
  }
  return ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent);
}

/** Whether its value is what the function returns, which says that it returns text. */
function isReturned(node: ts.Node): boolean {
  let at = node.parent;
  while (ts.isConditionalExpression(at) || ts.isParenthesizedExpression(at) || ts.isBinaryExpression(at))
    at = at.parent;
  if (!ts.isReturnStatement(at)) return false;
  while (!ts.isFunctionLike(at) && !ts.isSourceFile(at)) at = at.parent;
  return ts.isFunctionLike(at) && at.type?.getText() === "string";
}

/** Why a literal looks like words for people, or undefined. */
function suspicion(
  node: ts.StringLiteralLike | ts.TemplateHead | ts.TemplateMiddle | ts.TemplateTail,
): string | undefined {
  const { text, parent } = node;
  if (!/[A-Za-z]{3}/.test(text) || NOT_WORDS.has(text) || isForPrograms(node)) return undefined;
  if (/^ ?[A-Za-z]{2,}[,:;.]? ([A-Za-z]+ ?)*$/.test(text) || /^ [A-Za-z]{2,} ?$/.test(text)) return "words with spaces";
  if (/^[A-Z][a-z]{2,}$/.test(text) && ts.isCallExpression(parent)) return "a capital word that is handed on";
  if (ts.isPropertyAssignment(parent) && parent.initializer === node && SHOWN.test(parent.name.getText()))
    return "a property that is shown";
  if (/^[a-z]+$/.test(text) && isReturned(node)) return "returned as text";
  if (ts.isCallExpression(parent) && parent.expression.getText().endsWith(".push")) return "put into a list";
  if (ts.isConditionalExpression(parent) && parent.whenFalse.getText() === '""') return "a word or nothing";
  return undefined;
}

const found: string[] = [];
for (const [path, source] of sources) {
  const file = ts.createSourceFile(
    path,
    source,
    ts.ScriptTarget.Latest,
    true,
    path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS,
  );
  const visit = (node: ts.Node): void => {
    if (
      ts.isStringLiteralLike(node) ||
      ts.isTemplateHead(node) ||
      ts.isTemplateMiddle(node) ||
      ts.isTemplateTail(node)
    ) {
      const why = suspicion(node);
      if (why !== undefined)
        found.push(
          `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${JSON.stringify(node.text)}, ${why}`,
        );
    }
    node.forEachChild(visit);
  };
  visit(file);
}

it("is said by message files", () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(found).toEqual([]);
});

/** What is typed into a field, and cells of a CSV: commas there are syntax. */
const SYNTAX: ReadonlySet<string> = new Set([
  "/src/pages/configuration/arguments/argFields.tsx",
  "/src/pages/capacity/capacity.ts",
]);

it("is listed by format/lists.ts, which knows the marks of every language", () => {
  const joined = sources
    .filter(([path, source]) => !SYNTAX.has(path) && /\.join\("[,;] "\)/.test(source))
    .map(([path]) => path);
  expect(joined).toEqual([]);
});
