"""A run beside the real cluster."""
