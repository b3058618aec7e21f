import { getRouteApi, useLocation } from "@tanstack/react-router";
import { createContext, useMemo } from "react";

const route = getRouteApi("/runs/$run");

/** The address of the board as it is, with nothing selected. */
export interface BoardAddress {
  pathname: string;
  search: Readonly<Record<string, unknown>>;
}

export const BoardAddressContext = createContext<BoardAddress>({ pathname: "", search: {} });

/** Stays the same object while only what is selected changes. */
export function useBoardAddress(): BoardAddress {
  const pathname = useLocation({ select: (location) => location.pathname });
  const search = route.useSearch({ select: ({ pod: _pod, node: _node, ...rest }) => rest, structuralSharing: true });
  return useMemo(() => ({ pathname, search }), [pathname, search]);
}
