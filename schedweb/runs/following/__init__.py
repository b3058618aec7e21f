"""Runs that follow a real cluster: beginning one, what is read, and what its changes become."""
