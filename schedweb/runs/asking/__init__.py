"""Questions about a moment of a run, and their answers."""
