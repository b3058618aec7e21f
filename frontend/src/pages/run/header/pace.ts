/** How fast a run may play. */
import type { Speed } from "@/api/types";

import { t } from "../texts";

export const SPEEDS: readonly { value: string; label: string; speed: Speed; title: string }[] = [
  {
    value: "one",
    get label() {
      return t("1By1");
    },
    speed: "one",
    get title() {
      return t("oneCycleASecond");
    },
  },
  {
    value: "10",
    get label() {
      return t("10ASecond");
    },
    speed: 10,
    get title() {
      return t("10CyclesASecond");
    },
  },
  {
    value: "100",
    get label() {
      return t("100ASecond");
    },
    speed: 100,
    get title() {
      return t("100CyclesASecond");
    },
  },
  {
    value: "max",
    get label() {
      return t("max");
    },
    speed: "max",
    get title() {
      return t("asFastAsPossible");
    },
  },
];

export const speedOf = (value: string): Speed => SPEEDS.find((one) => one.value === value)?.speed ?? "one";

/** Faster than anybody reads a cycle. */
export const isFast = (speed: Speed): boolean => speed === "max" || (typeof speed === "number" && speed > 10);
