"""What the product says about itself to those who run it: metrics, logs and traces (docs/operating.md)."""
