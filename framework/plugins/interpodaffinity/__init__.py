"""InterPodAffinity: pods near or away from other pods."""
