"""Every address: the API below /api/v1/, its description below /api/, and the UI for everything else."""

from __future__ import annotations

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView

from schedweb.api.listing import ListingView
from schedweb.pages import api_not_found, healthz, index

urlpatterns = [
    path("api/v1/", ListingView.as_view()),
    path("api/v1/", include("schedweb.accounts.urls")),
    path("api/v1/", include("schedweb.snapshots.urls")),
    path("api/v1/", include("schedweb.configurations.urls")),
    path("api/v1/", include("schedweb.runs.urls")),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerView.as_view(url_name="schema"), name="docs"),
    path("healthz", healthz, name="healthz"),
    path("", include("schedweb.accounts.page_urls")),
    path("", include("schedweb.runs.sharing.page_urls")),
    re_path(r"^api(/.*)?$", api_not_found),
    re_path(r"^(?!static/|assets/|ws/).*$", index, name="index"),
]
