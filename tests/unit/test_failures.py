"""Loggable reasons of failures help the reader and quote no data."""

import re
import ssl
from json import loads

import pytest

from schemas import Codec
from scoring.judges import prompts
from streams.observability.failures import loggable_reason

SECRET = "what the customer wrote"


def _raised(action: object) -> BaseException:
    assert callable(action)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - any
        action()
    return caught.value


def test_an_error_of_the_operating_system_is_reported_with_its_meaning(tmp_path):
    message = loggable_reason(_raised((tmp_path / "none").read_text))
    assert message.startswith("ENOENT (No such file or directory) at ")
    assert str(tmp_path) not in message


def test_an_error_of_tls_is_reported_without_the_number_of_another_error():
    assert loggable_reason(ssl.SSLError(1, "[SSL: CERTIFICATE_VERIFY_FAILED]")) == (
        "SSLError ([SSL: CERTIFICATE_VERIFY_FAILED])"
    )


def test_any_other_error_is_reported_with_the_place_where_it_was_raised_and_without_its_text():
    def broken() -> None:
        raise RuntimeError(SECRET)

    line = broken.__code__.co_firstlineno + 1
    assert loggable_reason(_raised(broken)) == f"RuntimeError at unit/test_failures.py:{line}"


def test_an_error_of_a_library_is_reported_with_the_place_of_ours_that_called_it():
    message = loggable_reason(_raised(lambda: Codec().encode(SECRET)))  # type: ignore[arg-type]
    assert re.fullmatch(r"\w+Error at schemas/\w+\.py:\d+", message)
    message = loggable_reason(_raised(lambda: prompts.text(SECRET)))
    assert re.fullmatch(r"ENOENT \(No such file or directory\) at prompts/__init__\.py:\d+", message)
    message = loggable_reason(_raised(lambda: loads(SECRET)))
    assert message.startswith("JSONDecodeError at json/decoder.py:")
    assert SECRET not in message


@pytest.mark.parametrize("error", [RuntimeError(SECRET), OSError(SECRET)])
def test_an_error_that_was_never_raised_is_reported_by_its_class(error):
    assert loggable_reason(error) == type(error).__name__
