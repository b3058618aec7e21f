"""The shadow of a followed run: how far its configuration agrees with the real scheduler, and where it does not."""
