"""What every app's REST API shares: errors, windows, rendering, the schema's conventions."""
