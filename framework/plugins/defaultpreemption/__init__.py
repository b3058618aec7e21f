"""DefaultPreemption: makes room for a pod by evicting pods of lower priority (docs/semantics/preemption.md)."""
