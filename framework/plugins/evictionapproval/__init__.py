"""EvictionApproval: a plugin of ours that has a person asked before pods are evicted to make room for others."""
