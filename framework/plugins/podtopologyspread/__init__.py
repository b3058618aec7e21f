"""PodTopologySpread: pods spread over the values of a topology key."""
