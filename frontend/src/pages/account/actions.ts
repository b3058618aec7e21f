/** What the audit log tells of, in the order in which it is offered; each has words in `account.json`. */
import type { AuditAction } from "@/api/accounts";

/** A part of the actions' names: all of these at once. */
export const GROUPS = ["account", "token", "share", "decision", "configuration", "snapshot", "run"] as const;
export type Group = (typeof GROUPS)[number];

const ALL: Record<AuditAction, true> = {
  login: true,
  logout: true,
  "session.end": true,
  "account.create": true,
  "account.role": true,
  "account.disable": true,
  "account.enable": true,
  "account.link": true,
  "account.password": true,
  "account.identity": true,
  "token.create": true,
  "token.revoke": true,
  "share.create": true,
  "share.revoke": true,
  "decision.approve": true,
  "decision.reject": true,
  "decision.override": true,
  "snapshot.import": true,
  "snapshot.events": true,
  "snapshot.delete": true,
  "snapshot.restore": true,
  "snapshot.remove": true,
  "configuration.create": true,
  "configuration.change": true,
  "configuration.rename": true,
  "configuration.delete": true,
  "configuration.restore": true,
  "configuration.remove": true,
  "run.configuration": true,
  "run.delete": true,
  "run.restore": true,
  "run.star": true,
  "run.unstar": true,
  "run.prune": true,
  "run.remove": true,
  request: true,
  settings: true,
  "audit.export": true,
  "cluster.connect": true,
  "cluster.follow": true,
  "cluster.disconnect": true,
  "cluster.snapshot": true,
  "audit.prune": true,
};
export const ACTIONS = Object.keys(ALL) as AuditAction[];
