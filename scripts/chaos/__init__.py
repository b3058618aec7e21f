"""Faults on purpose: what a team's cluster does to the product, all at once, while people work with it.

`python -m scripts.chaos --faults 100 --seed 1` starts what docker-compose.yml describes against the real PostgreSQL and
Redis of this machine (scripts/services.py), breaks one thing after another, and proves afterwards that nothing was
lost.
Everything stays on 127.0.0.1 and ends by itself.
"""
