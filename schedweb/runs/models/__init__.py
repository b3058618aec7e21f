"""What a run stores. The journal is the truth; everything else is derived from it and can be made again by replay."""

from __future__ import annotations

from schedweb.runs.models.analysis import Analysis
from schedweb.runs.models.eviction import EvictionProposal
from schedweb.runs.models.followed import ClusterWrite, Followed, RealPodRecord, ShadowJudgement
from schedweb.runs.models.history import Attempt, AttemptChunk, Decision, FeedItem, Preemption, StepChunk
from schedweb.runs.models.live import NodeRecord, ObjectRecord, PodRecord, RunMetrics
from schedweb.runs.models.packed import Dictionary
from schedweb.runs.models.run import Checkpoint, JournalEntry, Run, RunBase
from schedweb.runs.models.share import ShareLink

__all__ = [
    "Analysis",
    "Attempt",
    "AttemptChunk",
    "Checkpoint",
    "ClusterWrite",
    "Decision",
    "Dictionary",
    "EvictionProposal",
    "FeedItem",
    "Followed",
    "JournalEntry",
    "NodeRecord",
    "ObjectRecord",
    "PodRecord",
    "Preemption",
    "RealPodRecord",
    "Run",
    "RunBase",
    "RunMetrics",
    "ShadowJudgement",
    "ShareLink",
    "StepChunk",
]
