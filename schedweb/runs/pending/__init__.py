"""Why a pod is pending, in one sentence and one more."""
