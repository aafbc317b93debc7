"""Secrets from files, as platforms mount them: ``sasl_password_file`` names a file with ``sasl_password``.

That goes for every secret of every section, for each value of a dictionary of secrets, and for every address,
since an address may hold credentials. A message quotes only what looks like a path, from the root and in a
folder that is there: some give the secret itself.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from streams.settings.addresses import HttpUrl

SUFFIX = "_file"

#: The largest secrets are chains of certificates, of some KB.
_MOST_BYTES = 64 * 1024
_OF_ADDRESSES = HttpUrl.__metadata__  # type: ignore[attr-defined] # of Annotated


def with_secrets_read(fields: Mapping[str, FieldInfo], values: Mapping[str, Any]) -> dict[str, Any]:
    """Give the values of a section with what stands in files in the place of the files' names.

    Raises:
        ValueError: a file cannot be used, or a secret is given in both ways.
    """
    read = dict(values)
    for name, field in fields.items():
        if may_be_secret(field):
            _read_into(read, name, name)
        elif _holds_secrets(field.annotation) and isinstance(read.get(name), Mapping):
            secrets = dict(read[name])
            for key in [key for key in secrets if str(key).endswith(SUFFIX)]:
                _read_into(secrets, key.removesuffix(SUFFIX), f"{name}.{key.removesuffix(SUFFIX)}")
            read[name] = secrets
    return read


def may_be_secret(field: FieldInfo) -> bool:
    """Say whether a setting is a secret, or an address, which may hold one."""
    if _holds_secrets(field.annotation):
        return False
    kinds = [field.annotation, *get_args(field.annotation)]
    metadata = [*field.metadata, *(mark for kind in kinds for mark in getattr(kind, "__metadata__", ()))]
    return SecretStr in kinds or any(mark in _OF_ADDRESSES for mark in metadata)


def _holds_secrets(annotation: Any) -> bool:
    return get_origin(annotation) is dict and SecretStr in get_args(annotation)


def _read_into(values: dict[str, Any], name: str, told: str) -> None:
    path = values.pop(f"{name}{SUFFIX}", None)
    if not path:  # empty is unset, as templates of deployments have it
        return
    if values.get(name):
        raise ValueError(f"{told} and {told}{SUFFIX} are both given")
    values[name] = _content(path, f"{told}{SUFFIX}")


def _content(path: object, told: str) -> str:
    if not isinstance(path, str | Path):
        raise ValueError(f"{told} should be the name of a file")  # noqa: TRY004 - pydantic's error is this one
    file = Path(path)
    named = f"{told} {file}" if _looks_like_a_path(file) else told
    try:
        content = _bounded(file)
    except OSError as error:
        raise ValueError(f"{named} cannot be read: {error.strerror or type(error).__name__}") from None
    except ValueError as error:
        raise ValueError(f"{named} {error}") from None
    if not content:
        raise ValueError(f"{named} is empty")
    return content


def _looks_like_a_path(file: Path) -> bool:
    try:
        return file.is_absolute() and file.parent.is_dir()
    except (OSError, ValueError):
        return False


def _bounded(path: Path) -> str:
    """Read a file of UTF-8 without the line ends that editors and ``echo`` leave behind it."""
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe or a device may never end
        raise ValueError("is no regular file")
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"has more than {_MOST_BYTES // 1024} KiB")
    try:
        return content.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        raise ValueError("is not UTF-8") from None


def file_settings(fields: Mapping[str, FieldInfo]) -> Iterator[str]:
    """Name the settings of a section that name files with its secrets."""
    return (f"{name}{SUFFIX}" for name, field in fields.items() if may_be_secret(field))
