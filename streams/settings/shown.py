"""The value that is wrong, as a complaint may show it: never a secret, nor what may be one."""

from __future__ import annotations

from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, SecretStr

from streams.settings.addresses import without_credentials
from streams.settings.described import section_of, unwrapped
from streams.settings.secret_files import may_be_secret

#: What is longer says no more in a line that people read.
_LONGEST: Final = 80


def shown_input(settings: type[BaseModel], place: tuple[int | str, ...], value: object) -> str | None:
    """Give a plain value in a few characters, or None where it is a secret, or a whole table or list.

    An address is shown without credentials, and only if it is a URL: else it may be a key in a wrong place.
    """
    if not isinstance(value, str | int | float) or value == "":
        return None
    kind, address = _at(settings, place)
    if kind is None or SecretStr in (kind, *get_args(kind)):
        return None
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if address and "://" not in value:
        return None
    text = without_credentials(value)
    if _is_number(text):
        return text
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}...")


def _at(kind: Any, place: tuple[int | str, ...]) -> tuple[Any, bool]:
    """Give the type at a place, None where it is none of plain values, and whether it is an address."""
    address = False
    for part in place:
        inner = unwrapped(kind)
        section = section_of(inner)
        if section and part in section.model_fields:
            field = section.model_fields[str(part)]
            kind, address = field.annotation, may_be_secret(field)
        elif get_origin(inner) in (dict, tuple):
            kind, address = get_args(inner)[0 if get_origin(inner) is tuple else 1], False
        elif section is None and hasattr(inner, "__dataclass_fields__"):
            return str, False  # the policy has no secrets
        else:
            return None, False
    inner = unwrapped(kind)
    return (None, False) if section_of(inner) or get_origin(inner) in (dict, tuple) else (kind, address)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
