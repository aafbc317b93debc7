"""Every secret can stand in a file, and what is wrong with one is a line that does not quote it."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel, SecretStr

from streams.settings import InvalidSettings, Settings, load_settings

SECRET = "hunter2-hunter2-hunter2"
JUDGE = {
    "TRUTHGATE_JUDGES__ENDPOINTS__SMALL__BASE_URL": "https://judge.example.com/v1",
    "TRUTHGATE_JUDGES__ENDPOINTS__SMALL__MODEL": "small",
}
#: Every secret by its path, in which * is a key of a dictionary, and what else it needs.
SECRETS: dict[tuple[str, ...], dict[str, str]] = {
    ("kafka", "sasl_password"): {},
    ("kafka", "ssl_key_password"): {
        "TRUTHGATE_KAFKA__SECURITY_PROTOCOL": "SSL",
        "TRUTHGATE_KAFKA__SSL_CERTFILE": "tls.crt",
        "TRUTHGATE_KAFKA__SSL_KEYFILE": "tls.key",
    },
    ("translation", "api_key"): {},
    ("retrieval", "embeddings_key"): {},
    ("judges", "endpoints", "*", "api_key"): JUDGE,
    ("web", "verdicts", "token"): {},
    ("desk", "token"): {},
    ("desk", "lead_token"): {},
    ("desk", "auditor_token"): {},
    ("desk", "audit_key"): {},
    ("desk", "oidc", "client_secret"): {},
    ("telemetry", "otlp_headers", "*"): {},
}
KEYS = {"endpoints": "small", "otlp_headers": "authorization"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text(f"{SECRET}\n")
    return path


def secrets_of(kind: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Walk a type of the settings and yield the path of every secret in it."""
    if kind is SecretStr:
        yield path
    elif get_origin(kind) is dict:
        yield from secrets_of(get_args(kind)[1], (*path, "*"))
    elif isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            yield from secrets_of(field.annotation, (*path, name))
    else:
        for part in get_args(kind):
            if part is not NoneType:
                yield from secrets_of(part, path)


def variable(path: tuple[str, ...]) -> str:
    named = [KEYS[path[at - 1]] if name == "*" else name for at, name in enumerate(path)]
    return "TRUTHGATE_" + "__".join(named).upper()


def value_at(settings: Settings, path: tuple[str, ...]) -> SecretStr:
    value: Any = settings
    for at, name in enumerate(path):
        value = value[KEYS[path[at - 1]]] if name == "*" else getattr(value, name)
    assert isinstance(value, SecretStr)
    return value


def complaint() -> str:
    with pytest.raises(InvalidSettings) as raised:
        load_settings()
    message = "; ".join([str(raised.value), *raised.value.more])
    assert "\n" not in message
    assert SECRET not in message
    return message


def test_all_secrets_of_the_settings_are_tried_here() -> None:
    assert set(secrets_of(Settings)) == set(SECRETS)


@pytest.mark.parametrize(("path", "others"), SECRETS.items(), ids=map(".".join, SECRETS))
def test_a_secret_can_stand_in_a_file(
    path: tuple[str, ...], others: dict[str, str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**others, f"{variable(path)}_FILE": str(file)}.items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert value_at(settings, path).get_secret_value() == SECRET
    assert SECRET not in repr(settings)


@pytest.mark.parametrize(("path", "others"), SECRETS.items(), ids=map(".".join, SECRETS))
def test_a_secret_that_is_given_twice_is_refused(
    path: tuple[str, ...], others: dict[str, str], file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {f"{variable(path)}_FILE": str(file), variable(path): "another"}
    for name, value in {**others, **given}.items():
        monkeypatch.setenv(name, value)
    assert "are both set" in complaint()


def test_an_empty_value_or_an_empty_name_is_none(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_PASSWORD", "")
    monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_PASSWORD_FILE", str(file))
    monkeypatch.setenv("TRUTHGATE_RETRIEVAL__EMBEDDINGS_KEY", SECRET)
    monkeypatch.setenv("TRUTHGATE_RETRIEVAL__EMBEDDINGS_KEY_FILE", "")
    settings = load_settings()
    assert settings.kafka.sasl_password == settings.retrieval.embeddings_key == SecretStr(SECRET)


def test_an_address_may_hold_credentials_and_so_stand_in_a_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text("https://user:pass@registry.example.com\n")
    monkeypatch.setenv("TRUTHGATE_ENCODING__SCHEMA_REGISTRY_URL_FILE", str(file))
    assert load_settings().encoding.schema_registry_url == "https://user:pass@registry.example.com"
    file.write_text(f"{SECRET}\n")
    assert "should be an http or https URL" in complaint()


def test_the_configuration_file_names_files_too(file: Path, tmp_path: Path) -> None:
    config = tmp_path / "truthgate.toml"
    config.write_text(f'[kafka]\nsasl_password_file = "{file}"\n')
    assert load_settings(config).kafka.sasl_password == SecretStr(SECRET)


@pytest.mark.parametrize(
    ("content", "kept"),
    [
        (b"s\n", "s"),
        (b"s\r\n\r\n", "s"),
        (b" s ", " s "),
        (b"a\nb\n", "a\nb"),
        ("sé\n".encode(), "sé"),
        (b"x" * 65_536, "x" * 65_536),
    ],
)
def test_only_line_ends_at_the_end_are_taken_away(
    content: bytes, kept: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(content)
    monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_PASSWORD_FILE", str(file))
    assert load_settings().kafka.sasl_password == SecretStr(kept)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"\n\r\n", "is empty"),
        (b"\xff" + SECRET.encode(), "is not UTF-8"),
        (b"x" * 65_537, "has more than 64 KiB"),
    ],
)
def test_what_is_not_a_secret_is_refused(
    content: bytes, reason: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(content)
    monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_PASSWORD_FILE", str(file))
    assert complaint() == f"kafka: sasl_password_file {file} {reason}"


def test_what_is_not_a_readable_file_is_refused_at_once_and_quoted_only_where_it_looks_like_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    kinds = {
        SECRET: "cannot be read: No such file or directory",
        f"/{SECRET}/{SECRET}": "cannot be read: No such file or directory",
        str(tmp_path): f"{tmp_path} is not a regular file",
        str(tmp_path / "pipe"): f"{tmp_path}/pipe is not a regular file",
        str(tmp_path / "none"): f"{tmp_path}/none cannot be read: No such file or directory",
        "/dev/zero": "/dev/zero is not a regular file",
        "x" * 5_000: "cannot be read: File name too long",
    }
    for path, reason in kinds.items():
        monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_PASSWORD_FILE", path)
        assert complaint() == f"kafka: sasl_password_file {reason}"


def test_what_is_not_a_name_of_a_file_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "truthgate.toml"
    config.write_text("[kafka]\nsasl_password_file = 3\n")
    with pytest.raises(InvalidSettings, match="sasl_password_file should be the name of a file"):
        load_settings(config)


def test_a_file_for_what_is_not_a_secret_is_not_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_USERNAME_FILE", "/run/secrets/user")
    assert "TRUTHGATE_KAFKA__SASL_USERNAME_FILE is not a setting of truthgate" in complaint()


def test_a_misspelt_name_is_reported_the_right_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUTHGATE_KAFKA__SASL_PASWORD_FILE", "/run/secrets/password")
    assert "did you mean TRUTHGATE_KAFKA__SASL_PASSWORD_FILE?" in complaint()
