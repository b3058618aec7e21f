/** Rows of a long list that the server hands out in windows: only those in view are asked for. */
import { type QueryKey, useQueries, type UseQueryOptions } from "@tanstack/react-query";
import { useVirtualizer, type VirtualItem } from "@tanstack/react-virtual";
import type { RefObject } from "react";

interface WindowsInput<TAnswer, TRow, TKey extends QueryKey> {
  scroller: RefObject<HTMLElement | null>;
  count: number;
  rowHeight: number;
  size: number;
  query: (offset: number) => UseQueryOptions<TAnswer, Error, TAnswer, TKey>;
  rows: (answer: TAnswer) => readonly TRow[];
}

export interface Windows<TRow> {
  items: VirtualItem[];
  /** Empty space above and below what is in view. */
  before: number;
  after: number;
  /** Undefined while its window is on the way. */
  rowAt: (index: number) => TRow | undefined;
  failed: Error | null;
  retry: () => void;
}

export function useWindows<TAnswer, TRow, TKey extends QueryKey>(
  input: WindowsInput<TAnswer, TRow, TKey>,
): Windows<TRow> {
  const { scroller, count, rowHeight, size } = input;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();
  const pages = [...new Set(items.map((item) => Math.floor(item.index / size)))];
  const answers = useQueries({ queries: pages.map((page) => input.query(page * size)) });
  const failed = answers.find((answer) => answer.error !== null && answer.data === undefined);
  return {
    items,
    before: items[0]?.start ?? 0,
    after: virtual.getTotalSize() - (items.at(-1)?.end ?? 0),
    rowAt: (index) => {
      const answer = answers[pages.indexOf(Math.floor(index / size))]?.data;
      return answer === undefined ? undefined : input.rows(answer)[index % size];
    },
    failed: failed?.error ?? null,
    retry: () => {
      for (const answer of answers) if (answer.error !== null) void answer.refetch();
    },
  };
}
