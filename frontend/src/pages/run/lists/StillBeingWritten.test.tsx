import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, expect, it } from "vitest";

import { addLanguage } from "@/languages/area";
import { setLanguage } from "@/languages/language";
import uk from "@/languages/uk";
import chinese from "@/languages/zh-CN";

import { StillBeingWritten } from "./StillBeingWritten";

addLanguage("uk", uk);
addLanguage("zh-CN", chinese);
afterEach(() => setLanguage("en"));

const shown = (unwritten: number) =>
  renderToStaticMarkup(<StillBeingWritten unwritten={unwritten} className="notice" />);

it("says how many pods lists do not show yet, in every language, until there are none", () => {
  expect(shown(0)).toBe("");
  expect(shown(8152)).toContain("8,152 pods that had their nodes from the start are still being recorded");
  setLanguage("uk");
  expect(shown(3)).toContain("3 Podʼи, що мали вузли від початку, ще записуються");
  setLanguage("zh-CN");
  expect(shown(3)).toContain("3 个从一开始就有节点的 Pod 仍在记录中");
});
