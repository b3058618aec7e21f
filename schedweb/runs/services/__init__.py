"""Changes of runs: creating and deleting them, taking commands, writing what the engine derived."""
