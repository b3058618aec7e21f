"""Addresses of the run API, below /api/v1/."""

from __future__ import annotations

from django.urls import path, register_converter

from schedweb.runs.api import (
    analyses,
    annotated_pods,
    attempts,
    comparison,
    objects,
    pods,
    real,
    runs,
    share_links,
    waiting,
)
from schedweb.runs.converters import RunConverter

register_converter(RunConverter, "run")

urlpatterns = [
    path("runs/", runs.RunListApi.as_view()),
    path("runs/delete/", runs.RunsDeleteApi.as_view()),
    path("runs/<run:run>/", runs.RunApi.as_view()),
    path("runs/<uuid:run>/wait/", runs.RunWaitApi.as_view()),
    path("runs/<run:run>/board/", runs.BoardApi.as_view()),
    path("runs/<uuid:run>/timeline/", runs.TimelineApi.as_view()),
    path("runs/<uuid:run>/timeline/<int:position>/", runs.StepApi.as_view()),
    path("runs/<uuid:run>/forks/", runs.ForksApi.as_view()),
    path("runs/<uuid:run>/exact/", runs.ExactRunApi.as_view()),
    path("runs/<run:run>/feed/", runs.FeedApi.as_view()),
    path("runs/<uuid:run>/commands/", runs.CommandsApi.as_view()),
    path("runs/<uuid:run>/journal/", runs.JournalApi.as_view()),
    path("runs/<uuid:run>/journal/<uuid:entry>/", runs.JournalEntryApi.as_view()),
    path("runs/<run:run>/pods/", pods.PodListApi.as_view()),
    path("runs/<run:run>/pods/<str:namespace>/<str:name>/", pods.PodApi.as_view()),
    path("runs/<run:run>/pods/<str:namespace>/<str:name>/yaml/", pods.PodYamlApi.as_view()),
    path("runs/<run:run>/nodes/", pods.NodeListApi.as_view()),
    path("runs/<run:run>/nodes/<str:name>/", pods.NodeApi.as_view()),
    path("runs/<run:run>/nodes/<str:name>/yaml/", pods.NodeYamlApi.as_view()),
    path("runs/<run:run>/selection/", pods.SelectionApi.as_view()),
    path("runs/<run:run>/preemptions/", objects.PreemptionListApi.as_view()),
    path("runs/<run:run>/objects/", objects.ObjectListApi.as_view()),
    path("runs/<run:run>/objects/yaml/", objects.ObjectYamlApi.as_view()),
    path("runs/<run:run>/timing/", attempts.TimingApi.as_view()),
    path("runs/<run:run>/attempts/", attempts.AttemptListApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/", attempts.AttemptApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/difference/<int:other>/", attempts.AttemptDifferenceApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/filter/", attempts.AttemptFilterApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/preemption/", attempts.AttemptPreemptionApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/scores/", attempts.AttemptScoresApi.as_view()),
    path("runs/<run:run>/attempts/<int:number>/score-matrix/", attempts.AttemptScoreMatrixApi.as_view()),
    path("runs/<uuid:run>/analyses/", analyses.AnalysesApi.as_view()),
    path("runs/<uuid:run>/analyses/<uuid:analysis>/", analyses.AnalysisApi.as_view()),
    path("runs/<uuid:run>/analyses/<uuid:analysis>/moved/", analyses.MovedPodsApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/", comparison.ComparisonApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/configurations/", comparison.ComparisonConfigurationsApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/pods/", comparison.ComparisonPodsApi.as_view()),
    path("runs/<uuid:run>/comparison/<uuid:other>/export/", comparison.ComparisonExportApi.as_view()),
    path("runs/<uuid:run>/real/", real.RealApi.as_view()),
    path("runs/<uuid:run>/real/pods/", real.RealPodsApi.as_view()),
    path("runs/<uuid:run>/real/export/", real.RealExportApi.as_view()),
    path("runs/<uuid:run>/annotations/", annotated_pods.AnnotatedPodsApi.as_view()),
    path("runs/<uuid:run>/share-links/", share_links.ShareLinksApi.as_view()),
    path("runs/<uuid:run>/share-links/<uuid:link>/", share_links.ShareLinkApi.as_view()),
    path("waiting/", waiting.WaitingListApi.as_view()),
    path("waiting/count/", waiting.WaitingCountApi.as_view()),
    path("decisions/", waiting.DecisionListApi.as_view()),
]
