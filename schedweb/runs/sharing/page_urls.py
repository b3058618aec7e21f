"""Addresses of this app's pages outside the UI."""

from __future__ import annotations

from django.urls import path

from schedweb.runs.sharing.pages import share_page

urlpatterns = [path("share/<str:token>", share_page, name="share")]
