import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, it } from "vitest";

import { addLanguage, area } from "./area";
import { setLanguage } from "./language";

const english = {
  hello: "Hello {{name}}",
  pods_one: "{{count}} pod on {{nodes}}",
  pods_other: "{{count}} pods on {{nodes}}",
  marked: "<b>{{name}}, {{link}}</b> waits for {{link}}",
};
const { t, rich } = area("test", english);
const markup = (node: ReactNode) => renderToStaticMarkup(createElement("p", null, node));

describe("texts of an area", () => {
  afterEach(() => setLanguage("en"));

  it("are in English from the start, with numbers as English writes them", () => {
    expect(t("hello", { name: "<b>&" })).toBe("Hello <b>&");
    expect([1, 2, 8152].map((count) => t("pods", { count, nodes: 1200 }))).toEqual([
      "1 pod on 1,200",
      "2 pods on 1,200",
      "8,152 pods on 1,200",
    ]);
  });

  it("follow the plural rules and the numbers of the language in force", () => {
    addLanguage("uk", {
      test: {
        ...english,
        pods_one: "{{count}} под",
        pods_few: "{{count}} поди",
        pods_many: "{{count}} подів",
        pods_other: "{{count}} пода",
      },
    });
    setLanguage("uk");
    expect([1, 3, 5, 21, 12000].map((count) => t("pods", { count, nodes: 0 }))).toEqual([
      "1 под",
      "3 поди",
      "5 подів",
      "21 под",
      "12\u00a0000 подів",
    ]);
    expect(t("pods", { count: 1.5, nodes: 0 })).toBe("1,5 пода");
  });

  it("take elements for placeholders and for tags, and never markup from a value", () => {
    const link = createElement("a", { href: "/x" }, "x");
    const b = (inside: ReactNode) => createElement("b", null, inside);
    expect(markup(rich("marked", { name: "<i>a</i>{{link}}$t(hello)", link, b }))).toBe(
      '<p><b>&lt;i&gt;a&lt;/i&gt;{{link}}$t(hello), <a href="/x">x</a></b> waits for <a href="/x">x</a></p>',
    );
    expect(() => rich("marked", { name: "a", link })).toThrow("wants an element for <b>");
  });
});
