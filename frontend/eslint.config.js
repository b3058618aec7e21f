import js from "@eslint/js";
import i18next from "eslint-plugin-i18next";
import jsxA11y from "eslint-plugin-jsx-a11y";
import reactHooks from "eslint-plugin-react-hooks";
import globals from "globals";
import tseslint from "typescript-eslint";

/** Read, so that it may be named on the command line; no rule is about it. */
const GENERATED = ["src/api/schema.d.ts", "src/live/wire.d.ts"];

export default tseslint.config(
  { ignores: ["dist", "node_modules", "public"] },
  js.configs.recommended,
  { files: GENERATED, languageOptions: { parser: tseslint.parser } },
  {
    files: ["src/**/*.{ts,tsx}", "tests/**/*.ts", "vite.config.ts"],
    ignores: GENERATED,
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      globals: globals.browser,
      parserOptions: {
        project: ["./tsconfig.app.json", "./tsconfig.tools.json"],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/only-throw-error": "off", // TanStack Router's redirect and notFound are thrown values.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "max-lines": ["error", 500],
      eqeqeq: "error",
      // A part that cannot be fetched must take nothing else of the page with it.
      "no-restricted-imports": [
        "error",
        {
          paths: [
            { name: "react", importNames: ["lazy"], message: "Use later() of @/parts/later." },
            {
              name: "@tanstack/react-router",
              importNames: ["lazyRouteComponent"],
              message: "Use laterPage() of @/parts/later.",
            },
          ],
        },
      ],
    },
  },
  {
    // A function that is longer does more than one thing: views are divided by what is seen, hooks by what they are about.
    files: ["src/**/*.{ts,tsx}"],
    ignores: ["**/*.test.{ts,tsx}", ...GENERATED],
    rules: { "max-lines-per-function": ["error", { max: 150, skipBlankLines: true, skipComments: true }] },
  },
  {
    files: ["src/**/*.tsx"],
    extends: [reactHooks.configs.flat["recommended-latest"], jsxA11y.flatConfigs.strict],
  },
  {
    // Texts stand in message files. Words that are the same in every language are written as code: <kbd>, <code>, class "mono".
    files: ["src/**/*.tsx"],
    plugins: { i18next },
    rules: {
      "i18next/no-literal-string": [
        "error",
        {
          mode: "jsx-only",
          "jsx-attributes": {
            include: [
              "^aria-(label|description|roledescription)$",
              "^title$",
              "^placeholder$",
              "^alt$",
              "^label$",
              "^what$",
              "^failed$",
              "^retryLabel$",
            ],
          },
          "jsx-components": { exclude: ["kbd", "code"] },
          callees: { exclude: [".*"] },
          words: {
            exclude: [
              "[^A-Za-z]*",
              "Scheduling Playground",
              "CSV|JSON|YAML|A|B",
              "Ctrl \\w+",
              "schedulerName",
              "percentageOfNodesToScore",
              "shop/web-1",
            ],
          },
        },
      ],
    },
  },
  { files: ["scripts/**/*.mjs", "eslint.config.js"], languageOptions: { globals: globals.node } },
);
