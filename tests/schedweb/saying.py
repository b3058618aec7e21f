"""Sentences that the product keeps, and that each of them is there in every language."""

from __future__ import annotations

import re
from collections.abc import Iterator

from django.utils.translation import override

from framework.sentences import Sentence, template
from schedweb.sentences import translated

LETTERS = {"uk": re.compile("[а-яіїєґ]", re.I), "zh-hans": re.compile("[\u4e00-\u9fff]")}


def sentences(content: object) -> Iterator[Sentence]:
    """Everything within that is said, as it is made and as it is stored."""
    if isinstance(content, Sentence):
        yield content
        yield from sentences(list(content.values.values()))
    elif isinstance(content, dict) and "say" in content:
        text = content["say"]
        yield from sentences(Sentence(text if isinstance(text, str) else tuple(text), content.get("with", {})))
    elif isinstance(content, dict):
        for each in content.values():
            yield from sentences(each)
    elif isinstance(content, list | tuple):
        for each in content:
            yield from sentences(each)


def assert_said_in_all_languages(found: list[Sentence]) -> None:
    for each in found:
        texts = [each.text] if isinstance(each.text, str) else each.text
        assert translated(each) == str(each)
        if not any(re.search("[a-z]", literal, re.I) for text in texts for literal, *_ in template(text)):
            continue
        # Without what it is about, which may be said in the language already.
        bare = Sentence(each.text, {name: value if name == "count" else "" for name, value in each.values.items()})
        for language, letters in LETTERS.items():
            with override(language):
                assert translated(bare) != str(bare), (language, each)
                assert letters.search(translated(each)), (language, each, translated(each))
