"""Configurations: versioned KubeSchedulerConfiguration files, their effective plugin set, forms and presets."""
