"""Every address: the API below /api/v1/, its description below /api/, and the UI for everything else."""

from __future__ import annotations

from django.urls import include, path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from schedweb.api.failures import plain, server_error
from schedweb.api.listing import ListingView
from schedweb.pages import api_not_found, healthz, index


class DocsView(SpectacularSwaggerSplitView):
    """Without scripts and styles in the page itself, but for one with a nonce."""

    url_name = "schema"
    template_name = "api/docs.html"


handler400, handler403, handler404, handler500 = plain(400), plain(403), plain(404), server_error

urlpatterns = [
    path("api/v1/", ListingView.as_view()),
    path("api/v1/", include("schedweb.accounts.urls")),
    path("api/v1/", include("schedweb.snapshots.urls")),
    path("api/v1/", include("schedweb.configurations.urls")),
    path("api/v1/", include("schedweb.runs.urls")),
    # After clusters/<name>/follow/ of the runs: names of contexts may have slashes in them.
    path("api/v1/", include("schedweb.clusters.urls")),
    path("api/v1/", include("schedweb.keeping.urls")),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", DocsView.as_view(), name="docs"),
    path("healthz", healthz, name="healthz"),
    path("", include("schedweb.operation.urls")),
    path("", include("schedweb.accounts.page_urls")),
    path("", include("schedweb.runs.sharing.page_urls")),
    re_path(r"^api(/[\s\S]*)?$", api_not_found),
    re_path(r"^(?!static/|assets/|ws/).*$", index, name="index"),
]
