/** What adding an object starts from: small, taken as it is, and easy to change. One for each kind that is edited on screen. */
export interface Template {
  /** As the list of objects calls it: with its group where two kinds share a name. */
  kind: string;
  text: (place: Place) => string;
}

/** Names that the run has, so that what is added has a meaning there. */
interface Place {
  nodes: readonly string[];
  namespace: string;
}

/** Also of a name that YAML would read as a number. */
const quoted = (text: string) => JSON.stringify(text);
const first = ({ nodes }: Place) => quoted(nodes[0] ?? "example-node");

export const TEMPLATES: readonly Template[] = [
  {
    kind: "ElasticQuota",
    text: ({ namespace }) => `apiVersion: scheduling.x-k8s.io/v1alpha1
kind: ElasticQuota
metadata:
  name: ${quoted(namespace)}
  namespace: ${quoted(namespace)}
spec:
  min:
    cpu: "4"
    memory: 16Gi
  max:
    cpu: "8"
    memory: 32Gi
`,
  },
  {
    kind: "PodGroup.scheduling.x-k8s.io",
    text: ({ namespace }) => `apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata:
  name: example
  namespace: ${quoted(namespace)}
spec:
  minMember: 3
  scheduleTimeoutSeconds: 60
`,
  },
  {
    kind: "PodGroup.scheduling.k8s.io",
    text: ({ namespace }) => `apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata:
  name: example
  namespace: ${quoted(namespace)}
spec:
  schedulingPolicy:
    gang:
      minCount: 3
`,
  },
  {
    kind: "NodeResourceTopology",
    text: (place) => `apiVersion: topology.node.k8s.io/v1alpha2
kind: NodeResourceTopology
metadata:
  name: ${first(place)}
attributes:
  - name: topologyManagerPolicy
    value: single-numa-node
  - name: topologyManagerScope
    value: pod
zones:
  - name: node-0
    type: Node
    resources:
      - {name: cpu, capacity: "4", allocatable: "4", available: "4"}
      - {name: memory, capacity: 16Gi, allocatable: 16Gi, available: 16Gi}
  - name: node-1
    type: Node
    resources:
      - {name: cpu, capacity: "4", allocatable: "4", available: "4"}
      - {name: memory, capacity: 16Gi, allocatable: 16Gi, available: 16Gi}
`,
  },
  {
    kind: "AppGroup",
    text: ({ namespace }) => `apiVersion: appgroup.diktyo.x-k8s.io/v1alpha1
kind: AppGroup
metadata:
  name: example
  namespace: ${quoted(namespace)}
spec:
  numMembers: 2
  topologySortingAlgorithm: KahnSort
  workloads:
    - workload:
        apiVersion: apps/v1
        kind: Deployment
        name: front
        namespace: ${quoted(namespace)}
        selector: front
      dependencies:
        - workload:
            apiVersion: apps/v1
            kind: Deployment
            name: back
            namespace: ${quoted(namespace)}
            selector: back
          minBandwidth: 100Mi
          maxNetworkCost: 20
    - workload:
        apiVersion: apps/v1
        kind: Deployment
        name: back
        namespace: ${quoted(namespace)}
        selector: back
`,
  },
  {
    kind: "NetworkTopology",
    text: ({ namespace }) => `apiVersion: networktopology.diktyo.x-k8s.io/v1alpha1
kind: NetworkTopology
metadata:
  name: nt-default
  namespace: ${quoted(namespace)}
spec:
  weights:
    - name: UserDefined
      topologyList:
        - topologyKey: topology.kubernetes.io/zone
          originList:
            - origin: zone-a
              costList:
                - {destination: zone-b, networkCost: 10}
            - origin: zone-b
              costList:
                - {destination: zone-a, networkCost: 10}
`,
  },
  {
    kind: "SeccompProfile",
    text: ({ namespace }) => `apiVersion: security-profiles-operator.x-k8s.io/v1beta1
kind: SeccompProfile
metadata:
  name: example
  namespace: ${quoted(namespace)}
spec:
  defaultAction: SCMP_ACT_ERRNO
  syscalls:
    - action: SCMP_ACT_ALLOW
      names:
        - read
        - write
        - exit_group
`,
  },
  {
    kind: "LoadMetrics",
    text: (place) => `apiVersion: load-watcher.paypal.com/v1
kind: LoadMetrics
metadata:
  name: load-watcher
data:
  NodeMetricsMap:
    ${first(place)}:
      metrics:
        - {type: CPU, operator: AVG, value: 40}
        - {type: CPU, operator: STD, value: 5}
        - {type: Memory, operator: AVG, value: 30}
`,
  },
  {
    kind: "Reservation",
    text: () => `apiVersion: scheduling.koordinator.sh/v1alpha1
kind: Reservation
metadata:
  name: example
spec:
  allocateOnce: false
  owners:
    - labelSelector:
        matchLabels:
          app: example
  template:
    spec:
      containers:
        - name: held
          image: registry.k8s.io/pause:3.10
          resources:
            requests:
              cpu: "2"
              memory: 4Gi
`,
  },
];

export function templateOf(kind: string): Template | undefined {
  return TEMPLATES.find((one) => one.kind === kind || one.kind.startsWith(`${kind}.`));
}
