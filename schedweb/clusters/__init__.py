"""Real clusters: which ones people may connect to, what is known of them, and snapshots that are taken of them.

``reading`` talks to API servers, in processes of its own, and knows neither Django nor the database. Credentials stay
in there: in kubeconfigs and what these name, never in the database, in an answer or in a log.
"""
