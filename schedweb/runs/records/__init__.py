"""What every page reads: a run's rows, as they are or as they were at a moment, and the shapes that answers share."""
