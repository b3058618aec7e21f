"""Addresses of the run API, below /api/v1/."""

from __future__ import annotations

from django.urls import path, register_converter

from schedweb.runs.asking import api as asking
from schedweb.runs.attempts import api as attempts
from schedweb.runs.comparing import api as comparing
from schedweb.runs.deleting import api as deleting
from schedweb.runs.exporting import api as exporting
from schedweb.runs.filtering import api as filtering
from schedweb.runs.following import api as following
from schedweb.runs.forking import api as forking
from schedweb.runs.nodes import api as nodes
from schedweb.runs.objects import api as objects
from schedweb.runs.operating import api as operating
from schedweb.runs.own_world import api as own_world
from schedweb.runs.playing import api as playing
from schedweb.runs.pods import api as pods
from schedweb.runs.real_cluster import api as real_cluster
from schedweb.runs.records.converters import RunConverter
from schedweb.runs.shadowing import api as shadowing
from schedweb.runs.sharing import api as sharing
from schedweb.runs.starring import api as starring
from schedweb.runs.waiting import api as waiting

register_converter(RunConverter, "run")

urlpatterns = [
    path("runs/", playing.RunListApi.as_view()),
    path("runs/delete/", deleting.RunsDeleteApi.as_view()),
    path("runs/<run:run>/", deleting.RunAndDeletionApi.as_view()),
    path("runs/<uuid:run>/wait/", playing.RunWaitApi.as_view()),
    path("runs/<run:run>/board/", playing.BoardApi.as_view()),
    path("runs/<uuid:run>/timeline/", playing.TimelineApi.as_view()),
    path("runs/<uuid:run>/timeline/<int:position>/", playing.StepApi.as_view()),
    path("runs/<uuid:run>/forks/", forking.ForksApi.as_view()),
    path("runs/<uuid:run>/exact/", forking.ExactRunApi.as_view()),
    path("runs/<run:run>/feed/", playing.FeedApi.as_view()),
    path("runs/<uuid:run>/commands/", playing.CommandsApi.as_view()),
    path("runs/<uuid:run>/journal/", playing.JournalApi.as_view()),
    path("runs/<uuid:run>/journal/<uuid:entry>/", playing.JournalEntryApi.as_view()),
    path("runs/<run:run>/pods/", pods.PodListApi.as_view()),
    path("runs/<run:run>/pods/<str:namespace>/<str:name>/", pods.PodApi.as_view()),
    path("runs/<run:run>/pods/<str:namespace>/<str:name>/yaml/", pods.PodYamlApi.as_view()),
    path("runs/<run:run>/nodes/", nodes.NodeListApi.as_view()),
    path("runs/<run:run>/nodes/<str:name>/", nodes.NodeApi.as_view()),
    path("runs/<run:run>/nodes/<str:name>/yaml/", nodes.NodeYamlApi.as_view()),
    path("runs/<run:run>/selection/", pods.SelectionApi.as_view()),
    path("runs/<run:run>/preemptions/", attempts.PreemptionListApi.as_view()),
    path("runs/<run:run>/objects/", objects.ObjectListApi.as_view()),
    path("runs/<run:run>/objects/quotas/", filtering.ObjectQuotasApi.as_view()),
    path("runs/<run:run>/objects/yaml/", objects.ObjectYamlApi.as_view()),
    path("runs/<run:run>/timing/", attempts.TimingApi.as_view()),
    path("runs/<run:run>/attempts/", attempts.AttemptListApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/", attempts.AttemptApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/difference/<int:other>/", attempts.AttemptDifferenceApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/extenders/", attempts.AttemptExtendersApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/filter/", filtering.AttemptFilterApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/log/", attempts.AttemptLogApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/preemption/", attempts.AttemptPreemptionApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/scores/", attempts.AttemptScoresApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/score-matrix/", attempts.AttemptScoreMatrixApi.as_view()),
    path("runs/<uuid:run>/analyses/", asking.AnalysesApi.as_view()),
    path("runs/<uuid:run>/analyses/<uuid:analysis>/", asking.AnalysisApi.as_view()),
    path("runs/<uuid:run>/analyses/<uuid:analysis>/moved/", asking.MovedPodsApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/", comparing.ComparisonApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/configurations/", comparing.ComparisonConfigurationsApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/pods/", comparing.ComparisonPodsApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/export/", comparing.ComparisonExportApi.as_view()),
    path("runs/<uuid:run>/real/", real_cluster.RealApi.as_view()),
    path("runs/<uuid:run>/real/pods/", real_cluster.RealPodsApi.as_view()),
    path("runs/<uuid:run>/real/export/", real_cluster.RealExportApi.as_view()),
    path("runs/<uuid:run>/metrics/", operating.MetricsApi.as_view()),
    path("runs/<uuid:run>/metrics/resources/", operating.ResourceMetricsApi.as_view()),
    path("runs/<uuid:run>/events/", operating.EventListApi.as_view()),
    path("runs/<uuid:run>/events/file/", operating.EventFileApi.as_view()),
    path("runs/<uuid:run>/annotations/", exporting.AnnotatedPodsApi.as_view()),
    path("runs/<uuid:run>/share-links/", sharing.ShareLinksApi.as_view()),
    path("runs/<uuid:run>/share-links/<uuid:link>/", sharing.ShareLinkApi.as_view()),
    path("runs/<uuid:run>/tokens/", sharing.RunTokensApi.as_view()),
    path("clusters/<path:name>/follow/", following.ClusterFollowApi.as_view()),
    path("clusters/<path:name>/schedule/", following.ClusterScheduleApi.as_view()),
    path("runs/<uuid:run>/follow/", following.RunFollowApi.as_view()),
    path("runs/<uuid:run>/schedule/", following.RunScheduleApi.as_view()),
    path("runs/<uuid:run>/schedule/real/", following.RunForRealApi.as_view()),
    path("runs/<uuid:run>/schedule/writes/", following.RunWritesApi.as_view()),
    path("runs/<uuid:run>/shadow/", shadowing.ShadowApi.as_view()),
    path("runs/<uuid:run>/shadow/decisions/", shadowing.ShadowDecisionsApi.as_view()),
    path("runs/<uuid:run>/shadow/decisions/<int:number>/extenders/", shadowing.ShadowExtendersApi.as_view()),
    path("runs/<uuid:run>/shadow/export/", shadowing.ShadowExportApi.as_view()),
    path("runs/<uuid:run>/shadow/world/", own_world.OwnWorldApi.as_view()),
    path("runs/<uuid:run>/shadow/world/pods/", own_world.OwnWorldPodsApi.as_view()),
    path("runs/<uuid:run>/shadow/world/export/", own_world.OwnWorldExportApi.as_view()),
    path("runs/<uuid:run>/star/", starring.StarApi.as_view()),
    path("waiting/", waiting.WaitingListApi.as_view()),
    path("waiting/count/", waiting.WaitingCountApi.as_view()),
    path("evictions/", waiting.EvictionListApi.as_view()),
    path("decisions/", waiting.DecisionListApi.as_view()),
]
