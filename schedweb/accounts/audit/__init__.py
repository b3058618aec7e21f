"""The audit log: who did what, when, from where, and with what result. Rows are only ever added (docs/operating.md)."""
