"""The Django project: storage, workers, REST API, WebSocket, login. All I/O of the product lives here."""
