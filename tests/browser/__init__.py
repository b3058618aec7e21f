"""The built UI in a real Chromium, against a playground that was started for it."""
