"""API addresses of this app, below /api/v1/."""

from __future__ import annotations

from django.urls import path

from schedweb.accounts.accounts_api import AccountLinkView, AccountsView, AccountView
from schedweb.accounts.api import MeView, TokensView, TokenView
from schedweb.accounts.audit.api import AuditExportView, AuditView
from schedweb.accounts.sessions_api import PasswordView, SessionsEndOthersView, SessionsView, SessionView

urlpatterns = [
    path("me/", MeView.as_view(), name="me"),
    path("me/password/", PasswordView.as_view()),
    path("tokens/", TokensView.as_view()),
    path("tokens/<int:token>/", TokenView.as_view()),
    path("sessions/", SessionsView.as_view()),
    path("sessions/end-others/", SessionsEndOthersView.as_view()),
    path("sessions/<int:session>/", SessionView.as_view()),
    path("accounts/", AccountsView.as_view()),
    path("accounts/<int:account>/", AccountView.as_view()),
    path("accounts/<int:account>/login-link/", AccountLinkView.as_view()),
    path("audit/", AuditView.as_view()),
    path("audit/export/", AuditExportView.as_view()),
]
