"""The engine: a child process that plays a run. It knows neither the database nor its supervisor (schedweb/worker)."""
