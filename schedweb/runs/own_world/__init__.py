"""A shadow on its own: our world beside the real cluster, which tells it the same arrivals."""
