"""What ends a worker at once is told with the exit code that says who is at fault."""

import pytest
from aiokafka.errors import CommitFailedError

from streams.observability.failures import (
    EXIT_SOFTWARE,
    EXIT_UNREACHABLE,
    EXIT_WRONG_SETTINGS,
    InfrastructureFailure,
)
from streams.settings import WrongSettings
from streams.worker.run import as_told

SECRET = "Zwaluwstaart-4711"


@pytest.mark.parametrize(
    ("failure", "reason", "exit_code"),
    [
        (InfrastructureFailure("the topic is gone"), "the topic is gone", EXIT_UNREACHABLE),
        (InfrastructureFailure("the pool is broken", EXIT_SOFTWARE), "the pool is broken", EXIT_SOFTWARE),
        (CommitFailedError(SECRET), "Kafka does not do its part: CommitFailedError", EXIT_UNREACHABLE),
        (WrongSettings("flow: no"), "flow: no", EXIT_WRONG_SETTINGS),
        (ValueError(SECRET), "ValueError", EXIT_SOFTWARE),
    ],
)
def test_the_reason_quotes_only_what_is_ours_and_the_code_is_that_of_who_is_at_fault(
    failure: Exception, reason: str, exit_code: int
) -> None:
    told = as_told(failure)
    assert (str(told), told.exit_code) == (reason, exit_code)
