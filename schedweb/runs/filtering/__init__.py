"""The filter of an attempt: which nodes refused the pod, why, and what the pod could use at all."""
