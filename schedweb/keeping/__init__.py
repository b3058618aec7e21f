"""What is kept and for how long: what was deleted, what grows old, and what uses the space."""
