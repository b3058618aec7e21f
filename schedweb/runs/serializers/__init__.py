"""The shapes of the run API, for the OpenAPI file and for reading requests.

Answers are built as plain dictionaries by selectors (many are large and already JSON in the database); a test checks
them against these types.
"""
