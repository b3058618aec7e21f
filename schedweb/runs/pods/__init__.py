"""The pods of a run: lists, a page for each, and one selected over all nodes."""
