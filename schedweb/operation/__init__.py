"""What the product tells whoever operates it: signs of life, and metrics (docs/operating.md)."""
