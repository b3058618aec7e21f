"""What the make targets run. Nothing in the product imports it."""
