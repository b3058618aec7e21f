/** What the two drawers start from: small, complete, and easy to change. */
export const POD_EXAMPLE = `apiVersion: v1
kind: Pod
metadata:
  name: example
  namespace: default
  labels:
    app: example
spec:
  containers:
    - name: main
      image: registry.k8s.io/pause:3.10
      resources:
        requests:
          cpu: 500m
          memory: 256Mi
`;

export const NODE_EXAMPLE = `apiVersion: v1
kind: Node
metadata:
  name: example-node
  labels:
    kubernetes.io/hostname: example-node
    topology.kubernetes.io/zone: zone-a
status:
  allocatable:
    cpu: "8"
    memory: 32Gi
    pods: "110"
  capacity:
    cpu: "8"
    memory: 32Gi
    pods: "110"
  conditions:
    - type: Ready
      status: "True"
`;
