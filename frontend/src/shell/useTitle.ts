import { useEffect } from "react";

const PRODUCT = "Scheduling Playground";

/** "cluster-shop, run · Scheduling Playground" */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    document.title = title === undefined || title === "" ? PRODUCT : `${title} · ${PRODUCT}`;
  }, [title]);
}
