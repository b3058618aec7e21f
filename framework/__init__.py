"""The Kubernetes scheduling framework as a deterministic machine: events in, decisions out, no I/O."""
