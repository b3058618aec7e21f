"""API addresses of this app, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from schedweb.accounts.api import MeView, TokensView, TokenView

urlpatterns = [
    path("me/", MeView.as_view(), name="me"),
    path("tokens/", TokensView.as_view()),
    path("tokens/<int:token>/", TokenView.as_view()),
]
