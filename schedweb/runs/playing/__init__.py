"""Making runs and playing them: the list, the board, the feed, the timeline, commands and their journal."""
