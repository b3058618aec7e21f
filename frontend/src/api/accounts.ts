/** Sessions of who is signed in, and, for admins, accounts and the audit log: shapes, reads and writes. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { pathOf, request, withQuery } from "./client";
import type { components } from "./schema";

type Schemas = components["schemas"];

export type Session = Schemas["Session"];
export type Account = Schemas["Account"];
export type AccountRole = Schemas["AccountRoleEnum"];
export type AccountCreated = Schemas["AccountCreated"];
export type LoginLink = Schemas["LoginLink"];
export type AuditEntry = Schemas["AuditEntry"];
export type AuditAction = AuditEntry["action"];
export type AuditResult = AuditEntry["result"];

/** From the one that may least. */
export const ACCOUNT_ROLES: readonly AccountRole[] = ["viewer", "operator", "editor", "admin"];

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => request<Session[]>("/sessions/", { signal }),
  staleTime: 0,
});

export const endSession = (session: number) => request(pathOf("sessions", session), { method: "DELETE" });

export const endOtherSessions = () =>
  request<Schemas["SessionsEnded"]>("/sessions/end-others/", { method: "POST", body: {} });

export const passwordQuery = queryOptions({
  queryKey: ["password"],
  queryFn: ({ signal }) => request<Schemas["Password"]>("/me/password/", { signal }),
  staleTime: 0,
});

export const changePassword = (body: { old: string; new: string }) =>
  request<Schemas["SessionsEnded"]>("/me/password/", { method: "POST", body });

export const accountsQuery = (offset: number, limit: number, q: string | undefined) =>
  queryOptions({
    queryKey: ["accounts", { offset, limit, q }],
    queryFn: ({ signal }) =>
      request<Schemas["AccountWindow"]>(withQuery("/accounts/", { offset, limit, q }), { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

export const createAccount = (body: { username: string; role: AccountRole }) =>
  request<AccountCreated>("/accounts/", { method: "POST", body });

export const changeAccount = (account: number, body: { role?: AccountRole; active?: boolean }) =>
  request<Account>(pathOf("accounts", account), { method: "PATCH", body });

export const createLoginLink = (account: number) =>
  request<LoginLink>(pathOf("accounts", account, "login-link"), { method: "POST", body: {} });

export interface AuditFilter {
  action?: string | undefined;
  result?: AuditResult | undefined;
  who?: string | undefined;
  q?: string | undefined;
  /** ISO-8601; the second is not within. */
  since?: string | undefined;
  until?: string | undefined;
}

export const auditQuery = (offset: number, limit: number, filter: AuditFilter) =>
  queryOptions({
    queryKey: ["audit", { offset, limit, ...filter }],
    queryFn: ({ signal }) =>
      request<Schemas["AuditEntryWindow"]>(withQuery("/audit/", { offset, limit, ...filter }), { signal }),
    placeholderData: keepPreviousData,
    staleTime: 0,
  });

/** Where the browser downloads it. */
export const auditExport = (as: "csv" | "json", filter: AuditFilter) =>
  `/api/v1${withQuery("/audit/export/", { as, ...filter })}`;
