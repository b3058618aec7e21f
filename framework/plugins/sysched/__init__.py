"""SySched: pods beside pods that make the same system calls (docs/semantics/catalogue.md#sysched)."""
