"""Defaults: what a configuration has where its text says nothing, or says zero."""

from __future__ import annotations

from tests.configuration.loading import loaded


def test_zero_durations_and_rates_are_as_if_not_given() -> None:
    result = loaded("leaderElection: {leaseDuration: 0s}\nclientConnection: {qps: 0, burst: 0}\nparallelism: 0x10\n")
    assert result.defaulted is not None
    assert result.defaulted.leader_election.lease_duration == "15s"
    assert (result.defaulted.client_connection.qps, result.defaulted.client_connection.burst) == (50.0, 100)
    assert result.defaulted.parallelism == 16


def test_every_field_is_defaulted() -> None:
    defaulted = loaded("").defaulted
    assert defaulted is not None
    missing = [name for name in defaulted.__struct_fields__ if getattr(defaulted, name) is None]
    assert missing == []
    assert (defaulted.pod_initial_backoff_seconds, defaulted.pod_max_backoff_seconds) == (1, 10)
    assert [entry.name for entry in defaulted.profiles[0].plugin_config] == [
        "DefaultPreemption",
        "DynamicResources",
        "InterPodAffinity",
        "NodeAffinity",
        "NodeResourcesBalancedAllocation",
        "NodeResourcesFit",
        "PodTopologySpread",
        "VolumeBinding",
    ]
