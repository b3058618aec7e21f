import { afterEach, expect, it } from "vitest";

import { addLanguage } from "@/languages/area";
import { setLanguage } from "@/languages/language";
import chinese from "@/languages/zh-CN/format.json";

import { both, clauses, either, listed, sentences, series } from "./lists";

afterEach(() => setLanguage("en"));

it("lists words", () => {
  expect([listed([]), listed(["a"]), listed(["a", "b", "c"])]).toEqual(["", "a", "a, b, c"]);
  expect([both([]), both(["a"]), both(["a", "b"]), both(["a", "b", "c"])]).toEqual(["", "a", "a and b", "a, b and c"]);
  expect(either(["a", "b", "c"])).toBe("a, b or c");
  expect(clauses(["3 fit", "2 wait"])).toBe("3 fit, 2 wait");
  expect(series(["a: 1, 2", "b: 3"])).toBe("a: 1, 2; b: 3");
  expect(sentences(["This.", "", undefined, "That."])).toBe("This. That.");
});

it("puts Chinese marks between them where Chinese is read", () => {
  addLanguage("zh-CN", { format: chinese });
  setLanguage("zh-CN");
  expect(listed(["a", "b", "c"])).toBe("a、b、c");
  expect(both(["a", "b", "c"])).toBe("a、b 和 c");
  expect(either(["a", "b"])).toBe("a 或 b");
  expect(clauses(["3 个", "2 个"])).toBe("3 个，2 个");
  expect(series(["a", "b"])).toBe("a；b");
  expect(sentences(["甲。", "乙。"])).toBe("甲。乙。");
});

it("takes words as they are", () => expect(listed(["{{next}}", "$&"])).toBe("{{next}}, $&"));
