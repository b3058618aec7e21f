/** A window of a long table as it is read: on its way, failed, empty, or its rows with the pages below. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { Empty, Failed, Outlines } from "@/components/Outcome";
import { Pager } from "@/components/Pager";
import { ScrollRegion } from "@/components/ScrollRegion";

import compare from "./Compare.module.css";

interface PagedRowsProps<Row> {
  rows: UseQueryResult<{ count: number; results: readonly Row[] }>;
  label: string;
  /** Headings of the columns. */
  heads: readonly string[];
  row: (row: Row) => ReactNode;
  offset: number;
  limit: number;
  /** No offset is the first page. */
  onChoose: (offset: number | undefined) => void;
  words: { reading: string; failed: string; none: string };
}

export function PagedRows<Row>({ rows, label, heads, row, offset, limit, onChoose, words }: PagedRowsProps<Row>) {
  return (
    <>
      {rows.isPending ? <Outlines count={6} height={30} label={words.reading} /> : null}
      {rows.error === null ? null : <Failed what={words.failed} error={rows.error} retry={() => void rows.refetch()} />}
      {rows.data?.results.length === 0 ? <Empty>{words.none}</Empty> : null}
      {rows.data === undefined || rows.data.results.length === 0 ? null : (
        <ScrollRegion className={compare.scroller} label={label}>
          <table className={`${compare.table} ${compare.rows}`}>
            <thead>
              <tr>
                {heads.map((head) => (
                  <th key={head} scope="col">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>{rows.data.results.map(row)}</tbody>
          </table>
        </ScrollRegion>
      )}
      <Pager
        offset={offset}
        limit={limit}
        total={rows.data?.count ?? 0}
        onChoose={(next) => onChoose(next === 0 ? undefined : next)}
      />
    </>
  );
}
