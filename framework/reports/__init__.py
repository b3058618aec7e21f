"""What operators of kube-scheduler read, of a simulated scheduler: its log, dumps, Events and resource metrics."""
