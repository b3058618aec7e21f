"""The messages of the WebSocket, and sending them to whoever listens."""
