"""ManualApproval: a Permit plugin of ours that waits until a person approves or rejects the pod."""
