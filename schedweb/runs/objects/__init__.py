"""What a run's cluster holds besides pods and nodes: claims, volumes, classes, devices."""
