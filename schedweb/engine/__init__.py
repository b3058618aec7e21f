"""The engine: a child process that plays a run, and the task that supervises it under a lease."""
