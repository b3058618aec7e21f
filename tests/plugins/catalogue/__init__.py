"""Plugins of scheduler-plugins against a naive evaluation of their rules: one walk over manifests, nothing kept."""
