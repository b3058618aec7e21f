"""The server's texts in other languages: django.po in schedweb/locale/<language>/LC_MESSAGES, and django.mo made of it.

`--write` (part of `make generate`) brings the .po files up to date with the code, texts that are new without a
translation, and compiles them. `--check` fails when a file is stale, or a text has no translation, another placeholder
or fewer plural forms than its language.
"""

from __future__ import annotations

import argparse
import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir, extract_python
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT: Final = Path(__file__).resolve().parent.parent
LOCALE: Final = ROOT / "schedweb" / "locale"
LANGUAGES: Final = {"uk": "uk", "zh_Hans": "zh_Hans_CN"}
"""Folder → Babel's name."""
DATED: Final = datetime(2026, 1, 1, tzinfo=UTC)
KEYWORDS: Final[dict[str, Any]] = {
    "say": None, "noted": None, "counted": (1, 2), "forms": (1, 2),
    "sentence": None, "counted_sentence": (1, 2),
}  # fmt: skip
"""Functions of schedweb/sentences.py and framework/sentences.py."""
PACKAGES: Final = ("framework", "schedweb")
_TRANSLATE: Final = re.compile(r'{%\s*translate\s+"([^"]+)"\s*%}')
_COMMENT: Final = re.compile(r"^ *# (.+)$")
_PLACEHOLDER: Final = re.compile(r"(?<!{){(\w+(?:![rsa])?(?::[^}]*)?)}")


def from_template(
    file: IO[bytes], keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, str, str, list[str]]]:
    """Babel's extraction interface, for ``{% translate "…" %}``."""
    for number, line in enumerate(file.read().decode().splitlines(), start=1):
        for text in _TRANSLATE.findall(line):
            yield number, "say", text, []


def from_presets(
    file: IO[bytes], keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, Any, Any, list[str]]]:
    """A module with YAML that people read: its comments are texts, too."""
    lines = file.read().decode().splitlines()
    file.seek(0)
    called: Iterator[Any] = extract_python(file, keywords, comment_tags, options)
    yield from called
    for number, line in enumerate(lines, start=1):
        if (found := _COMMENT.match(line)) is not None:
            yield number, "say", found[1], []


def extracted() -> Catalog:
    """All texts of the server. Without line numbers: they would make every change a change of the catalogs."""
    found = Catalog(charset="utf-8")
    methods: list[tuple[str, Any]] = [
        ("**/migrations/**", "ignore"),
        ("configuration/preset_texts.py", from_presets),
        ("configurations/builtins.py", from_presets),
        ("**.py", "python"),
        ("**.html", from_template),
    ]
    for package in PACKAGES:
        texts = extract_from_dir(ROOT / package, methods, keywords=KEYWORDS)
        for name, _, text, comments, context in texts:
            flags = ["python-brace-format"] if _PLACEHOLDER.search(text if isinstance(text, str) else text[0]) else []
            found.add(text, locations=[(f"{package}/{name}", 0)], flags=flags, auto_comments=comments, context=context)
    return found


def empty(language: str) -> Catalog:
    """Its header says what programs need and nothing that changes by itself."""
    return Catalog(
        locale=LANGUAGES[language],
        header_comment="# Texts of the server; docs/languages.md.",
        project="scheduling-playground",
        version="1",
        charset="utf-8",
        creation_date=DATED,
        revision_date=DATED,
        fuzzy=False,
    )


def catalog(language: str) -> Catalog:
    path = LOCALE / language / "LC_MESSAGES" / "django.po"
    if not path.exists():
        return empty(language)
    with path.open("rb") as file:
        return read_po(file, locale=LANGUAGES[language])


def updated(language: str, texts: Catalog) -> Catalog:
    known, made = catalog(language), empty(language)
    for message in sorted(texts, key=lambda each: str(each.id)):
        if not message.id:
            continue
        old = known.get(message.id if isinstance(message.id, str) else message.id[0])
        places = sorted({(name, 0) for name, _ in message.locations})
        made.add(message.id, old.string if old is not None else "", places, message.flags)
    return made


def as_po(made: Catalog) -> bytes:
    written = io.BytesIO()
    write_po(written, made, width=120, include_lineno=False)
    return written.getvalue()


def as_mo(made: Catalog) -> bytes:
    written = io.BytesIO()
    write_mo(written, made)
    return written.getvalue()


def complaints(language: str, made: Catalog) -> Iterator[str]:
    for message in made:
        if not message.id:
            continue
        for problem in wrong(message, made.num_plurals):
            yield f"{language}: {problem}: {message.id!r}"


def wrong(message: Message, plurals: int) -> Iterator[str]:
    texts = [message.string] if isinstance(message.string, str) else list(message.string or ("",))
    if not all(texts):
        yield "not translated"
        return
    originals = [message.id] if isinstance(message.id, str) else list(message.id)
    wanted = {each for text in originals for each in _PLACEHOLDER.findall(text)}
    if message.pluralizable and len(texts) != plurals:
        yield f"{len(texts)} plural forms instead of {plurals}"
    for text in texts:
        given = set(_PLACEHOLDER.findall(text))
        # A form for one thing may leave its number out.
        if given != wanted and not (message.pluralizable and given <= wanted):
            yield f"placeholders {sorted(given)} instead of {sorted(wanted)}"


def main() -> int:
    parser = argparse.ArgumentParser(description="The server's texts in other languages.")
    chosen = parser.add_mutually_exclusive_group(required=True)
    chosen.add_argument("--check", action="store_true")
    chosen.add_argument("--write", action="store_true")
    is_check = parser.parse_args().check
    texts = extracted()
    problems: list[str] = []
    for language in LANGUAGES:
        folder = LOCALE / language / "LC_MESSAGES"
        made = updated(language, texts)
        problems += complaints(language, made)
        for path, content in ((folder / "django.po", as_po(made)), (folder / "django.mo", as_mo(made))):
            if path.exists() and path.read_bytes() == content:
                continue
            if is_check:
                problems.append(f"{path.relative_to(ROOT).as_posix()} is out of date; `make generate` writes it.")
            else:
                folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
    print("\n".join(problems) or "Every text of the server is translated.", file=sys.stderr if problems else sys.stdout)
    return 1 if problems and is_check else 0


if __name__ == "__main__":
    sys.exit(main())
