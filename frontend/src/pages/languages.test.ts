/** Words that pages put together outside of their elements, in the other languages. */
import { afterEach, describe, expect, it } from "vitest";

import type { PluginCell, PluginRow } from "@/api/configurationTypes";
import type { NodesTable, Selection } from "@/api/types";
import { resultWord } from "@/components/states";
import { milliseconds } from "@/format/milliseconds";
import { bytes, shortPriority } from "@/format/number";
import { requestSum } from "@/format/requestSum";
import { amount, quantity, requestText } from "@/format/resources";
import { addLanguage } from "@/languages/area";
import { setLanguage } from "@/languages/language";
import uk from "@/languages/uk";
import chinese from "@/languages/zh-CN";
import { NodeColumns } from "@/live/nodeColumns";

import { shareText, signed } from "./compare/words";
import { cellTitle, cellWord } from "./configuration/words";
import { kindTiles, plural } from "./home/importing";
import { resourceName } from "./pod/filter/amounts";
import { columnsOf } from "./run/nodes/nodeTableColumns";
import { nodeSentence } from "./run/nodes/NodeTile";
import { shortReason, verdictOf } from "./run/nodes/selection";

const TABLE: NodesTable = {
  seq: 1,
  count: 2,
  resources: ["cpu", "nvidia.com/gpu"],
  row: [0, 1],
  names: ["a", "b"],
  zones: [{ name: "east", nodes: 2 }],
  zone: [0, 0],
  pools: [""],
  pool: [0, 0],
  types: ["m5"],
  type: [0, 0],
  cordoned: [0, 1],
  tainted: [0, 1],
  allocatable: [
    [8000, 0],
    [8000, 0],
  ],
  requested: [
    [0, 0],
    [0, 0],
  ],
  reserved: [
    [0, 0],
    [0, 0],
  ],
  pods: [
    [0, 0, 0],
    [0, 0, 0],
  ],
};
const SELECTION = {
  chosen: 0,
  verdict: [-1, -1],
  rank: [1, 2],
  total: [300, 200],
  reasons: [],
} as unknown as Selection;
const nodes = () => {
  const table = NodeColumns.from(TABLE);
  const columns = columnsOf(table, SELECTION);
  return {
    table,
    heads: columns.map((column) => column.header),
    rows: [0, 1].map((row) => columns.map((column) => column.show(row))),
  };
};
const CELL: PluginCell = {
  state: "disabled",
  origin: "disabled by *",
  position: null,
  weight: null,
  default_weight: null,
  moved: false,
  disabled_in: "score",
};

describe("in Ukrainian and in Chinese", () => {
  addLanguage("uk", uk);
  addLanguage("zh-CN", chinese);
  afterEach(() => setLanguage("en"));

  it("the table of nodes", () => {
    setLanguage("uk");
    expect(nodes().heads).toEqual([
      "Вузол",
      "Зона",
      "Тип",
      "Для вибраного Podʼа",
      "Усього",
      "cpu: запитано / allocatable",
      "gpu: запитано / allocatable",
      "Привʼязано",
      "Чекають",
      "Позначки",
    ]);
    expect(nodes().rows[0]?.slice(3, 7)).toEqual(["обрано, місце 1", "300", "0 / 8", "немає"]);
    setLanguage("zh-CN");
    expect(nodes().heads.slice(0, 4)).toEqual(["节点", "可用区", "类型", "对所选 Pod"]);
    expect(nodes().rows[1]?.slice(3)).toEqual(["可行，第 2 名", "200", "0 / 8", "无", "0", "0", "已封锁、带有污点"]);
  });

  it("a node that is read out", () => {
    setLanguage("uk");
    expect(nodeSentence(nodes().table, 1, verdictOf(SELECTION, 1))).toMatch(
      /^b, закрито для планування, із taint, придатний, місце 2, сума 200, /,
    );
    setLanguage("zh-CN");
    expect(nodeSentence(nodes().table, 0, verdictOf(SELECTION, 0))).toMatch(/^a，已选定，第 1 名，总分 300，/);
  });

  it("why a node is out, in short; what is not known in short stays kube-scheduler's", () => {
    const reasons = [
      "Insufficient nvidia.com/gpu, Insufficient cpu",
      "node(s) had untolerated taint(s) {dedicated: data}",
      "node(s) didn't have free ports for the requested pod ports",
      "node(s) were made up",
    ];
    setLanguage("uk");
    expect(reasons.map(shortReason)).toEqual(["бракує GPU +1", "taint dedicated", "порт зайнято", "were made up"]);
    setLanguage("zh-CN");
    expect(reasons.map(shortReason)).toEqual(["缺少 GPU +1", "污点 dedicated", "端口已占用", "were made up"]);
  });

  it.each([
    ["uk", "2 Gi диска", "диск"],
    ["zh-CN", "2 Gi 磁盘", "磁盘"],
  ] as const)("%s: local storage", (language, amount, name) => {
    setLanguage(language);
    expect([
      requestText({ "ephemeral-storage": "2Gi" }),
      requestSum([{ requests: { "ephemeral-storage": "2Gi" } }]),
      resourceName("ephemeral-storage"),
    ]).toEqual([amount, amount, name]);
  });

  it.each([
    ["uk", ["87,5 %", "+1,30", "0,28 мс", "1,7 MB", "1,5k", "7,92", "9,5 Gi", "20,05", "96,1 Gi", "0,25 cpu"]],
    ["zh-CN", ["87.5 %", "+1.30", "0.28 毫秒", "1.7 MB", "1.5k", "7.92", "9.5 Gi", "20.05", "96.1 Gi", "0.25 cpu"]],
  ] as const)("%s: numbers with a separator", (language, wanted) => {
    setLanguage(language);
    expect([
      shareText(0.8751),
      signed(1.3, 2),
      milliseconds(280),
      bytes(1_700_531),
      shortPriority(1500),
      amount("cpu", 7920),
      amount("memory", 9.5 * 2 ** 30),
      quantity("20050m"),
      quantity("96.1Gi"),
      requestText({ cpu: "250m" }),
    ]).toEqual(wanted);
  });

  it.each([
    ["uk", "Fit на Score: вимкнено через * у score", "вимкнено"],
    ["zh-CN", "Score 的 Fit：被 * 禁用，位于 score", "已禁用"],
  ] as const)("%s: a plugin that is off", (language, title, word) => {
    setLanguage(language);
    expect([cellTitle({ plugin: "Fit" } as PluginRow, "Score", CELL), cellWord(CELL)]).toEqual([title, word]);
  });

  it.each([
    ["uk", "немає", "відкинуто", "помилка"],
    ["zh-CN", "无", "已丢弃", "错误"],
  ] as const)("%s: nothing, what was dropped, and how an attempt ended", (language, none, dropped, failed) => {
    setLanguage(language);
    const tiles = kindTiles({
      nodes: 1,
      pods: 1,
      pending: 0,
      gated: 0,
      namespaces: 0,
      empty_namespaces: 0,
      arrivals: 0,
      departures: 0,
      gpus: 0,
      pods_by_namespace: [],
      made_pods: 0,
      made_from: {},
      kinds: {},
      unused_kinds: {},
      dropped_kinds: { Secret: 4 },
    });
    expect([shareText(null), tiles.at(-1)?.detail, resultWord("error"), plural("Secret", 4)]).toEqual([
      none,
      dropped,
      failed,
      "Secret",
    ]);
  });
});
