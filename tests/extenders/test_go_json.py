"""Replies as Go's encoding/json reads them; the expectations were recorded with it."""

from __future__ import annotations

from typing import Any

import pytest

from framework.extenders.go_json import GoJsonError, GoType, decode
from framework.extenders.replies import BINDING_RESULT, FILTER_RESULT, PREEMPTION_RESULT, PRIORITY_LIST

REFUSED = [
    (FILTER_RESULT, "not json", "invalid character 'o' in literal null (expecting 'u')"),
    (FILTER_RESULT, "", "EOF"),
    (FILTER_RESULT, "[]", "json: cannot unmarshal array into Go value of type v1.ExtenderFilterResult"),
    (FILTER_RESULT, "{", "unexpected EOF"),
    (FILTER_RESULT, "<html>", "invalid character '<' looking for beginning of value"),
    (
        FILTER_RESULT,
        '{"NodeNames":"node-01"}',
        "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames of type []string",
    ),
    (PRIORITY_LIST, "{}", "json: cannot unmarshal object into Go value of type v1.HostPriorityList"),
    (PRIORITY_LIST, "x", "invalid character 'x' looking for beginning of value"),
    (
        PRIORITY_LIST,
        '[{"Host":"node-01","Score":3.5}]',
        "json: cannot unmarshal number 3.5 into Go struct field HostPriority.Score of type int64",
    ),
    (
        PRIORITY_LIST,
        '[{"Host":"node-01","Score":"5"}]',
        "json: cannot unmarshal string into Go struct field HostPriority.Score of type int64",
    ),
    (BINDING_RESULT, "[]", "json: cannot unmarshal array into Go value of type v1.ExtenderBindingResult"),
    # Not recorded; by the rules of encoding/json.
    (FILTER_RESULT, "[1 2]", "invalid character '2' after array element"),
    (FILTER_RESULT, '{"a" 1}', "invalid character '1' after object key"),
    (FILTER_RESULT, '{"a":1]', "invalid character ']' after object key:value pair"),
    (FILTER_RESULT, '{"a":"\x01"}', "invalid character '\\x01' in string literal"),
    (FILTER_RESULT, '{"a":"\\x"}', "invalid character 'x' in string escape code"),
    (FILTER_RESULT, "1.x", "invalid character 'x' after decimal point in numeric literal"),
    (FILTER_RESULT, "'", "invalid character '\\'' looking for beginning of value"),
    (
        FILTER_RESULT,
        '{"Nodes":{"items":[{"metadata":{"name":5}}]}}',
        "json: cannot unmarshal number into Go struct field ObjectMeta.Nodes.items.metadata.name of type string",
    ),
    (
        PRIORITY_LIST,
        '[{"Host":"a","Score":9223372036854775808}]',
        "json: cannot unmarshal number 9223372036854775808 into Go struct field HostPriority.Score of type int64",
    ),
]
ACCEPTED: list[tuple[GoType, str, Any]] = [
    (FILTER_RESULT, "null", {}),
    (FILTER_RESULT, '{"nodenames":["a","b"]}', {"NodeNames": ["a", "b"]}),
    (FILTER_RESULT, '{"NodeNames":["a"]} trailing', {"NodeNames": ["a"]}),
    (FILTER_RESULT, '{"NodeNames":["a"],"nodenames":["b"]}', {"NodeNames": ["b"]}),
    (FILTER_RESULT, '{"Nodes":null,"NodeNames":null}', {"Nodes": None, "NodeNames": None}),
    (FILTER_RESULT, '{"Unknown":1,"Nodes":{}}', {"Nodes": {}}),
    (FILTER_RESULT, '{"FailedNodes":{"a":null}}', {"FailedNodes": {"a": ""}}),
    (FILTER_RESULT, '{"Error":"\\ud800"}', {"Error": "\ufffd"}),
    (PRIORITY_LIST, "null", None),
    (PRIORITY_LIST, "[null]", [{}]),
    (PRIORITY_LIST, '[{"host":"a","score":7}]', [{"Host": "a", "Score": 7}]),
    (BINDING_RESULT, '{"Error":"first"} {"Error":""}', {"Error": "first"}),
    (BINDING_RESULT, '{"Error":null}', {"Error": ""}),
    (PREEMPTION_RESULT, '{"NodeNameToMetaVictims":{"n":null}}', {"NodeNameToMetaVictims": {"n": None}}),
]


@pytest.mark.parametrize(("into", "text", "error"), REFUSED)
def test_what_cannot_be_read_is_told_in_gos_words(into: GoType, text: str, error: str) -> None:
    with pytest.raises(GoJsonError) as raised:
        decode(text.encode(), into)
    assert str(raised.value) == error


@pytest.mark.parametrize(("into", "text", "value"), ACCEPTED)
def test_what_go_accepts_is_accepted(into: GoType, text: str, value: Any) -> None:
    assert decode(text.encode(), into) == value
