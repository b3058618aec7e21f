"""A run's pods as files of kube-scheduler-simulator."""
