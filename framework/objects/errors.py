"""Objects that cannot be taken: which object, which field, and why."""

from __future__ import annotations

from framework.objects.field_errors import FieldError


class ObjectError(ValueError):
    """``Pod shop/web-1: spec.containers[0].name: Required value``; several complaints one per line."""

    def __init__(self, kind: str, key: str, errors: tuple[FieldError, ...]) -> None:
        self.kind = kind
        self.key = key
        self.errors = errors
        who = f"{kind or 'object'} {key}".rstrip()
        super().__init__(
            "\n".join(f"{who}: {error.text}" if error.path else f"{who}: {error.detail}" for error in errors)
        )
