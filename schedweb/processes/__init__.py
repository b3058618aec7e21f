"""Processes with pipes, apart from the server: engines, readers and analyses.

Python's start and their imports take a second of a processor each. So where many are needed (a worker), one process
does that once and is forked (`forks.py`, `fork_server.py`; decision 0034). Where nobody keeps one, where it does not
answer, and on systems other than Linux they are started by `python -m` (`plain.py`). Either way they have pipes, the
environment of whoever asks, the hash seed 0 and a session of their own, and end when their standard input is closed.
"""
