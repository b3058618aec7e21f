"""Profiles: the plugins of a scheduler name put together, and the framework that runs them at every point."""

from __future__ import annotations

from framework.profiles.build import PluginClasses, ProfileError
from framework.profiles.filter_run import FilterRun, NodeCase, priority_of
from framework.profiles.pod_class import FeasibleNodes, PodClass
from framework.profiles.profile import Profile
from framework.profiles.profile_map import ProfileMap, build_profiles
from framework.profiles.services import Clock, ReuseRule, SeededGenerator, Services, TieRule, Ties
from framework.profiles.waiting_pods import WaitingPod, WaitingPods, go_duration

__all__ = [
    "Clock",
    "FeasibleNodes",
    "FilterRun",
    "NodeCase",
    "PluginClasses",
    "PodClass",
    "Profile",
    "ProfileError",
    "ProfileMap",
    "ReuseRule",
    "SeededGenerator",
    "Services",
    "TieRule",
    "Ties",
    "WaitingPod",
    "WaitingPods",
    "build_profiles",
    "go_duration",
    "priority_of",
]
