"""The nodes of a run: the picture of all, and a page for each."""
