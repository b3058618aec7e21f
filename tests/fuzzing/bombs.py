"""Texts of a given size that take as much memory as such a text can: many tiny values, deep nesting, anchors, merges,
repeated keys, one endless value; in JSON, in YAML, and in what single parsers read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

Bomb = Callable[[int], bytes]
"""Of a size in bytes."""
_CONFIGURATION: Final = b'{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",'
_POD: Final = b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{'
_NODE: Final = b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"a",'
_TERM: Final = _POD + (
    b'"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"a","labelSelector":{'
)
_LABELLED: Final = (
    b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a%x","namespace":"b","uid":"x","labels":{'
    + b",".join(b'"%%x-%x":""' % number for number in range(60))
    + b'}},"spec":{"containers":[{"name":"a"}]}}'
)
_LIST: Final = b'{"apiVersion":"v1","kind":"List","items":['
_EXPORT: Final = b'{"nodes":[],"pvs":[],"pvcs":[],"storageClasses":[],"priorityClasses":[],"namespaces":[],"pods":['
_NODES: Final = b"sn,cpu_milli,memory_mib,gpu,model\n"
_PODS: Final = b"name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time\n"
_WATCHED: Final = b'{"timestamp":1,"window":{},"source":"a","data":{"NodeMetricsMap":{'
_RESULT: Final = b'{"status":"success","data":{"resultType":"matrix","result":['
_OF_NODE: Final = _RESULT + b'{"metric":{"node":"a","type":"cpu"},"values":['
_TRACE: Final = _NODES + b"n1,4000,8192,2,T4\n\n" + _PODS


def filled(before: bytes, unit: bytes, after: bytes = b"") -> Bomb:
    def of(size: int) -> bytes:
        content = unit * ((size - len(before) - len(after)) // len(unit))
        return before + (content[:-1] if content.endswith(b",") else content) + after

    return of


def numbered(before: bytes, unit: bytes, after: bytes = b"", between: bytes = b",", numbers: int = 1) -> Bomb:
    """``unit`` has a place for a number, or as many as ``numbers``, so that no two are equal."""

    def of(size: int) -> bytes:
        units = (unit % ((number,) * numbers) for number in range(size // (len(unit) + 4)))
        return before + between.join(units) + after

    return of


def nested(opens: bytes, closes: bytes) -> Bomb:
    return lambda size: opens * (size // (len(opens) + len(closes))) + closes * (size // (len(opens) + len(closes)))


JSON: Final[dict[str, Bomb]] = {
    "empty objects": filled(b"[", b"{},", b"]"),
    "small objects": filled(b"[", b'{"a":1},', b"]"),
    "empty lists": filled(b"[", b"[],", b"]"),
    "lists in lists": filled(b"[", b"[" * 400 + b"]" * 400 + b",", b"]"),
    "numbers": filled(b"[", b"1e9,", b"]"),
    "texts": filled(b"[", b'"ab",', b"]"),
    "one text that is wide in memory": filled(b'["', b"x", b'\xf0\x9f\x98\x80"]'),
    "escapes": filled(b'["', b"\\u00e9", b'"]'),
    "deep lists": nested(b"[", b"]"),
    "deep objects": nested(b'{"a":', b"}"),
    "one key again and again": filled(b"{", b'"a":{},', b"}"),
    "keys": numbered(b"{", b'"%x":0', b"}"),
    "tolerations": filled(_POD + b'"tolerations":[', b"{},", b"]}}"),
    "volumes": filled(_POD + b'"volumes":[', b'{"a":1},', b"]}}"),
    "an export": filled(_EXPORT, b"{},", b"]}"),
    "items": filled(_LIST, b"{},", b"]}"),
    "labels": numbered(_POD + b'"nodeSelector":{', b'"%x":""', b"}}}"),
    "objects of a list": numbered(_LIST, b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"%x"}}', b"]}"),
    "nodes of a list": filled(_LIST, b'{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}},', b"]}"),
}
OBJECTS: Final[dict[str, Bomb]] = {
    "labels of a node": numbered(_NODE + b'"labels":{', b'"%x":""', b"}}}"),
    "labels that are none": numbered(_NODE + b'"labels":{', b'"%x!":"!"', b"}}}"),
    "labels of pods": numbered(_LIST, _LABELLED, b"]}", numbers=61),
    "one long label": filled(_NODE + b'"labels":{"', b"a", b'":""}}}'),
    "requests": numbered(_POD + b'"containers":[{"name":"a","resources":{"requests":{', b'"a/%x":1', b"}}}]}}"),
    "values": numbered(_TERM + b'"matchExpressions":[{"key":"a","operator":"In","values":[', b'"%x!"', b"]}]}}]}}}}"),
    "images": numbered(_NODE[:-1] + b'},"status":{"images":[', b'{"names":["a%x"]}', b"]}}"),
    "taints": numbered(_NODE[:-1] + b'},"spec":{"taints":[', b'{"key":"abcdef%x"}', b"]}}"),
}
"""Of one object, or of few, more than anybody has: what is right, and what is wrong with each."""
LOADS: Final[dict[str, Bomb]] = {
    "nodes": numbered(_WATCHED, b'"%x":{}', b"}}}"),
    "figures of a node": filled(_WATCHED + b'"a":{"metrics":[', b"{},", b"]}}}}"),
    "history of a node": filled(_WATCHED + b'"a":{"history":[{"type":"CPU","step":1,"values":[', b"1,", b"]}]}}}}"),
    "series": filled(_RESULT, b"{},", b"]}}"),
    "series of nodes that are not there": numbered(_RESULT, b'{"metric":{"node":"%x"}}', b"]}}"),
    "labels of a series": numbered(_RESULT + b'{"metric":{', b'"%x":""', b"}}]}}"),
    "points": numbered(_OF_NODE, b'[%d,"1"]', b"]}]}}"),
}
YAML: Final[dict[str, Bomb]] = {
    "items": filled(b"", b"-\n"),
    "objects": filled(b"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  volumes:\n", b"  - {}\n"),
    "empty objects": filled(b"[", b"{},", b"]"),
    "pairs": filled(b"[", b"a: b,", b"]"),
    "keys": numbered(b"", b"%x:\n", between=b""),
    "one key again and again": filled(b"", b"a: 1\n"),
    "documents": filled(b"", b"---\n"),
    "deep lists": nested(b"[", b"]"),
    "deep blocks": filled(b"", b"- ", b"a\n"),
    "anchors": numbered(b"", b"- &a%x 1\n", between=b""),
    "aliases": filled(b"- &a [x, x, x, x]\n", b"- *a\n"),
    "merges": filled(b"a: &a {" + b", ".join(b"k%d: 1" % number for number in range(100)) + b"}\nl:\n", b"- <<: *a\n"),
    "comments": filled(b"", b"- a #b\n"),
    "one text that is wide in memory": filled(b"a: ", b"x", b" \xf0\x9f\x98\x80\n"),
    "escapes": filled(b'a: "', b"\\x41", b'"\n'),
    "empty lines": filled(b"", b"\n"),
}
CONFIGURATIONS: Final[dict[str, Bomb]] = {
    "profiles": filled(_CONFIGURATION + b'"profiles":[', b"{},", b"]}"),
    "extenders": filled(_CONFIGURATION + b'"extenders":[', b"{},", b"]}"),
    "plugins": filled(_CONFIGURATION + b'"profiles":[{"plugins":{"score":{"enabled":[', b'{"name":"a"},', b"]}}}]}"),
    "arguments": filled(_CONFIGURATION + b'"profiles":[{"pluginConfig":[', b'{"name":"a"},', b"]}]}"),
    "unknown fields": numbered(_CONFIGURATION, b'"%x":0', b"}"),
}
OLDER: Final[dict[str, Bomb]] = {
    "predicates": filled(b'{"kind":"Policy","apiVersion":"v1","predicates":[', b"{},", b"]}"),
    "priorities": filled(b'{"kind":"Policy","apiVersion":"v1","priorities":[', b'{"name":"a","weight":1},', b"]}"),
    "flags": filled(b"kube-scheduler ", b"--v=2 "),
    "words": filled(b"kube-scheduler ", b"a "),
    "gates": filled(b"kube-scheduler --feature-gates=", b"a=true,"),
}
EDITS: Final[dict[str, Bomb]] = {
    "edits": filled(b"[", b'{"type":"disablePlugin","profile":0,"point":"score","name":"a"},', b"]"),
    "a path": filled(b'[{"type":"setField","path":[', b'"a",', b'],"value":50}]'),
    "a value": filled(b'[{"type":"setField","path":["a"],"value":[', b"{},", b"]}]"),
}
TRACES: Final[dict[str, Bomb]] = {
    "rows": filled(_TRACE, b"a,1,1,1,1,,0,0\n"),
    "rows that stay": filled(_TRACE, b"a,1,1,1,1,,0,\n"),
    "classes": numbered(_TRACE, b"a,1,1,1,1,%x,0,0\n", between=b""),
    "nodes": filled(_NODES, b"abc,1,1,0,T\n", b"\n" + _PODS),
    "models": numbered(_NODES, b"a,1,1,1,%x\n", b"\n" + _PODS, between=b""),
    "cells": filled(_TRACE, b","),
}
TEXTS: Final[dict[str, Bomb]] = {
    "one word": filled(b"", b"x"),
    "words": filled(b"", b"a "),
    "commas": filled(b"", b","),
    "requirements": filled(b"", b"a=b,", b"c=d"),
    "values": filled(b"a in (", b"b,", b"c)"),
    "selectors": filled(b"", b"-l a=b "),
    "digits": filled(b"", b"9"),
    "zero bytes": filled(b"", b"\0"),
    "no text": filled(b"", b"\xff"),
}
