/** Bearer tokens of who is signed in: shapes, reads and writes. */
import { queryOptions } from "@tanstack/react-query";

import { pathOf, request } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Token = Schemas["Token"];
export type TokenRole = NonNullable<Token["role"]>;
export type TokenCreated = Schemas["TokenCreated"];

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => request<Token[]>("/tokens/", { signal }),
  staleTime: 0,
});

/** `run`: the one run that it is for. */
export const createToken = (
  body: { name: string; role: TokenRole | null; expires_at: string | null },
  run: string | null,
) => request<TokenCreated>(run === null ? "/tokens/" : pathOf("runs", run, "tokens"), { method: "POST", body });

export const revokeToken = (token: number) => request(pathOf("tokens", token), { method: "DELETE" });
