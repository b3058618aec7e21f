"""DynamicResources: devices for the pod's resource claims (docs/semantics/devices.md).

``plugin.py`` has the extension points, ``allocator.py`` and ``search.py`` find devices on one node (upstream's
"incubating" allocator, which 1.36 picks with its default gates), ``tracker.py`` knows what is taken.
"""
