"""A library's line about an error that has no text tells its type."""

import logging

import pytest

from streams.observability.logs import EmptyErrorFilter


@pytest.mark.parametrize(
    ("error", "told"),
    [(TimeoutError(), "TimeoutError"), (OSError("refused"), "refused"), ("as it is", "as it is")],
)
def test_an_error_without_a_text_is_told_by_its_type(error: object, told: str) -> None:
    message = "Unable connect to node with id %s: %s"
    record = logging.LogRecord("aiokafka", logging.ERROR, "", 1, message, (1, error), None)
    assert EmptyErrorFilter().filter(record)
    assert record.getMessage() == f"Unable connect to node with id 1: {told}"
