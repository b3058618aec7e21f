import { useQuery } from "@tanstack/react-query";

import { meQuery } from "./queries";
import type { Me, Role } from "./types";

const RANK: Record<Role, number> = { visitor: -1, viewer: 0, operator: 1, editor: 2, admin: 3 };

export interface Rights {
  me: Me | undefined;
  /** Runs and approvals. */
  operates: boolean;
  /** Configurations and snapshots. */
  edits: boolean;
  /** Accounts and the audit log. */
  administers: boolean;
  /** Here by a share link: one run, to look at as it is now. */
  visits: boolean;
}

/** Who is signed in and what the role allows; the server is the judge, the page only does not offer what it will refuse. */
export function useMe(): Rights {
  const { data } = useQuery(meQuery);
  const rank = data === undefined ? -1 : RANK[data.role];
  return {
    me: data,
    operates: rank >= RANK.operator,
    edits: rank >= RANK.editor,
    administers: rank >= RANK.admin,
    visits: data?.role === "visitor",
  };
}
