"""Scenarios of the product beside a cluster, played at the stand-in and, where TEST_KUBECONFIG names one, at a real
API server (``make test-live``): what holds at one has to hold at the other."""
