"""Addresses of login and logout."""

from __future__ import annotations

from django.urls import path

from schedweb.accounts.pages import login_page, logout_page

urlpatterns = [path("login", login_page, name="login"), path("logout", logout_page, name="logout")]
