"""The YAML of the presets (presets.py).

Its comments are texts for readers: scripts/catalogs.py collects them, and who hands a preset out says them.
"""

from __future__ import annotations

from typing import Final

DEFAULT: Final = """\
# What kube-scheduler 1.36 runs without a configuration file.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
"""

BIN_PACK: Final = """\
# Fill nodes before opening new ones: fewer nodes in use, room for large pods elsewhere.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      # Weights in multiPoint keep the default order of plugins.
      multiPoint:
        enabled:
          - name: NodeResourcesFit
            weight: 5
      score:
        disabled:
          # Balancing cpu against memory would pull pods back to empty nodes.
          - name: NodeResourcesBalancedAllocation
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: MostAllocated
            resources:
              - name: cpu
                weight: 1
              - name: memory
                weight: 1
"""

SPREAD: Final = """\
# Prefer empty nodes and even zones: failures hurt less, nodes stay less loaded.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: PodTopologySpread
            weight: 10
          - name: NodeResourcesFit
            weight: 3
    pluginConfig:
      - name: NodeResourcesFit
        args:
          scoringStrategy:
            type: LeastAllocated
            resources:
              - name: cpu
                weight: 1
              - name: memory
                weight: 1
      - name: PodTopologySpread
        args:
          # For pods without constraints of their own.
          defaultingType: List
          defaultConstraints:
            - maxSkew: 1
              topologyKey: topology.kubernetes.io/zone
              whenUnsatisfiable: ScheduleAnyway
            - maxSkew: 1
              topologyKey: kubernetes.io/hostname
              whenUnsatisfiable: ScheduleAnyway
"""

NO_SCORING: Final = """\
# The first feasible node wins: filters decide, nothing is ranked.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      preScore:
        disabled:
          - name: "*"
      score:
        disabled:
          - name: "*"
"""

APPROVALS: Final = """\
# kube-scheduler's own profile, with two plugins that wait on Permit: gangs start together, large pods ask a person.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: Coscheduling
          - name: ManualApproval
      # Coscheduling keeps the pods of a gang together in the queue; there is one queue sort plugin.
      queueSort:
        enabled:
          - name: Coscheduling
        disabled:
          - name: "*"
    pluginConfig:
      - name: Coscheduling
        args:
          permitWaitingTimeSeconds: 60
          # Without it, a gang that does not fit is tried again and again without a pause.
          podGroupBackoffSeconds: 30
          # One of six may be late without the others giving up.
          podGroupRejectPercentage: 20
      - name: ManualApproval
        args:
          # A pod that requests at least one of these waits for a person.
          minimumRequests:
            memory: 16Gi
            nvidia.com/gpu: "2"
          timeoutSeconds: 600
          message: Large pods are approved by the platform team.
"""

EVICTIONS: Final = """\
# kube-scheduler's own profile, but nobody is evicted before a person says so: who would go waits in the inbox.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      # At this point pods are evicted; with it, a person is asked first.
      postFilter:
        enabled:
          - name: EvictionApproval
    pluginConfig:
      - name: EvictionApproval
        args:
          message: Ask the owners of what is evicted first.
"""

QUOTAS: Final = """\
# Namespaces stay within their ElasticQuotas, and lend each other what they do not use.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: CapacityScheduling
        disabled:
          # CapacityScheduling evicts itself: first those who borrow.
          - name: DefaultPreemption
"""

QUOTA_TREE: Final = """\
# A tree of ElasticQuotas: what is guaranteed first, the rest of the cluster by weight to those who ask for it.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          # After an idea of koordinator. Labels of ElasticQuotas name their parents.
          - name: ElasticQuotaTree
    pluginConfig:
      - name: ElasticQuotaTree
        args:
          # A pod must fit into the share of every quota above its own, too.
          checkParents: true
          # What pending pods ask for counts when shares are worked out.
          countPendingPods: true
"""

NUMA: Final = """\
# Nodes where one NUMA zone has room for the pod, so that no kubelet turns it away.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: NodeResourceTopologyMatch
            weight: 5
    pluginConfig:
      - name: NodeResourceTopologyMatch
        args:
          scoringStrategy:
            # Full zones first: whole zones stay free for large pods.
            type: MostAllocated
            resources:
              - name: cpu
                weight: 1
              - name: memory
                weight: 1
"""

NETWORK: Final = """\
# Pods of an AppGroup near the pods that they talk to, tried in the order of their dependencies.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: NetworkOverhead
            weight: 5
      # There is one queue sort plugin.
      queueSort:
        enabled:
          - name: TopologicalSort
        disabled:
          - name: "*"
    pluginConfig:
      - name: NetworkOverhead
        args:
          # Where AppGroups and the NetworkTopology are.
          namespaces: [default, shop]
          networkTopologyName: nt-default
          weightsName: UserDefined
      - name: TopologicalSort
        args:
          namespaces: [default, shop]
"""

LOAD: Final = """\
# Nodes by what they really use, as load-watcher measured it, instead of what their pods request.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: TargetLoadPacking
            weight: 5
          - name: LoadVariationRiskBalancing
            weight: 2
          - name: LowRiskOverCommitment
            weight: 2
        disabled:
          # What is requested would count against what is measured.
          - name: NodeResourcesFit
          - name: NodeResourcesBalancedAllocation
      filter:
        enabled:
          - name: NodeResourcesFit
      preFilter:
        enabled:
          - name: NodeResourcesFit
    pluginConfig:
      - name: TargetLoadPacking
        args:
          targetUtilization: 40
          watcherAddress: http://load-watcher.example.com:2020
      - name: LoadVariationRiskBalancing
        args:
          watcherAddress: http://load-watcher.example.com:2020
      - name: LowRiskOverCommitment
        args:
          watcherAddress: http://load-watcher.example.com:2020
"""

LOAD_AWARE: Final = """\
# Busy nodes take no more pods, and those with most left are preferred: measured load, and estimates of newer pods.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          # After koordinator's plugin of this name.
          - name: LoadAwareScheduling
            weight: 5
    pluginConfig:
      - name: LoadAwareScheduling
        args:
          # In percent of what is allocatable, with the pod.
          usageThresholds:
            cpu: 65
            memory: 95
          # Pods that were placed after the load was measured are taken to use so much of their requests.
          estimatedScalingFactors:
            cpu: 85
            memory: 70
"""

POWER: Final = """\
# Nodes whose power grows least with the pod: Peaks, with a power model per node.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: Peaks
            weight: 5
    pluginConfig:
      - name: Peaks
        args:
          WatcherAddress: http://load-watcher.example.com:2020
          NodePowerModel:
            # Power in watts is k0 + k1 × e^(k2 × load in percent).
            node-1:
              k0: 470.0
              k1: -91.0
              k2: -0.07
"""

TOLERATION: Final = """\
# PriorityClasses say who may preempt their pods and for how long these are spared; urgent classes are tried first.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: PreemptionToleration
        disabled:
          - name: DefaultPreemption
      # Of equal priority Guaranteed pods come before Burstable and BestEffort ones.
      queueSort:
        enabled:
          - name: QOSSort
        disabled:
          - name: "*"
"""

CROSS_NODE: Final = """\
# Where no node alone can make room, as with spread constraints and anti-affinity over zones, pods leave several nodes.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      postFilter:
        enabled:
          # It tries all sets of pods of lower priority, after DefaultPreemption has found nobody on any single node.
          - name: CrossNodePreemption
"""

NODES: Final = """\
# Nodes by what they are: their size, a number on a label, pods that are about to leave, system calls of their pods.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: NodeResourcesAllocatable
            weight: 3
          - name: NodeMetadata
            weight: 2
          - name: PodState
          - name: SySched
    pluginConfig:
      - name: NodeResourcesAllocatable
        args:
          # Small nodes first.
          mode: Least
          resources:
            - name: cpu
              weight: 1048576
            - name: memory
              weight: 1
      - name: NodeMetadata
        args:
          metadataKey: example.com/price
          metadataSource: Label
          metadataType: Number
          scoringStrategy: Lowest
      - name: SySched
        args:
          defaultProfileNamespace: default
          defaultProfileName: all-syscalls
"""

SHARED: Final = """\
# A cluster that teams share: quotas, NUMA zones, the network between zones, measured load. Every node is scored.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: CapacityScheduling
          - name: NodeResourceTopologyMatch
            weight: 3
          - name: NetworkOverhead
            weight: 3
          - name: TargetLoadPacking
            weight: 3
        disabled:
          # CapacityScheduling evicts itself: first those who borrow.
          - name: DefaultPreemption
    pluginConfig:
      - name: NetworkOverhead
        args:
          # Where AppGroups and the NetworkTopology are.
          namespaces: [shop]
          networkTopologyName: nt-default
          weightsName: UserDefined
      - name: TargetLoadPacking
        args:
          targetUtilization: 40
          watcherAddress: http://load-watcher.example.com:2020
"""

RESERVATIONS: Final = """\
# Places that are held for pods to come. A pod that may use a reservation goes to its node whatever else it scores by.
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          - name: Reservation
            weight: 5000
    pluginConfig:
      - name: Reservation
        args:
          # A Reservation that names neither ttl nor expires holds for a day.
          defaultTtlSeconds: 86400
"""
