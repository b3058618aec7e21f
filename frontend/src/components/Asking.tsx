import type { ReactNode } from "react";

import type { Cycle } from "@/api/types";
import { both } from "@/format/lists";
import { age } from "@/format/time";

import { rich, t } from "./texts";
import { useTick } from "./useTick";

/** Milliseconds: an extender that answers sooner is not worth a line that goes at once. */
const AT_ONCE = 500;

interface Props {
  asking: NonNullable<Cycle["asking"]>;
  /** What is said until it has been thinking for a while. */
  otherwise?: ReactNode;
}

/** Whom the attempt waits for, since when, and how long it will. The time is not read out: it changes all the while. */
export function Asking({ asking, otherwise = null }: Props) {
  const took = useTick() - Date.parse(asking.since);
  const most = asking.timeout * 1000;
  if (took < AT_ONCE) return otherwise;
  const time = (
    <span className="num" aria-hidden="true">
      {t("tookOf", { took: age(Math.min(took, most)), most: age(most) })}
    </span>
  );
  return rich("asksExtenders", { extenders: both(asking.extenders), time });
}
