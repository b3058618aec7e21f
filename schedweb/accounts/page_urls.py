"""Addresses of login and logout."""

from __future__ import annotations

from django.urls import path

from schedweb.accounts.openid_pages import back_page, begin_page
from schedweb.accounts.pages import login_page, logout_page

urlpatterns = [
    path("login", login_page, name="login"),
    path("login/openid", begin_page, name="openid"),
    path("login/openid/back", back_page, name="openid-back"),
    path("logout", logout_page, name="logout"),
]
