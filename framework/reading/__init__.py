"""One reading of what people bring: files, pasted texts, standard input; the same for the web and the command line."""

from __future__ import annotations
