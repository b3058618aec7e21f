"""The worker: takes the tasks of runs, starts their engines and supervises them under a lease."""
