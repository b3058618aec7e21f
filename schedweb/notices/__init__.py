"""Tells people outside of the site that pods wait for their decision: Slack, Teams, mail, a signed webhook (0029)."""
