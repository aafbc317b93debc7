"""What ends a worker at once is told with the exit code that says who is at fault."""

import pytest
from aiokafka.errors import CommitFailedError

from streams.observability.failures import (
    EXIT_INVALID_SETTINGS,
    EXIT_SOFTWARE,
    EXIT_UNREACHABLE,
    InfrastructureFailure,
)
from streams.settings import InvalidSettings
from streams.worker.run_worker import as_infrastructure_failure

SECRET = "Zwaluwstaart-4711"


@pytest.mark.parametrize(
    ("failure", "reason", "exit_code"),
    [
        (InfrastructureFailure("the topic is gone"), "the topic is gone", EXIT_UNREACHABLE),
        (InfrastructureFailure("the pool is broken", EXIT_SOFTWARE), "the pool is broken", EXIT_SOFTWARE),
        (CommitFailedError(SECRET), "Kafka does not work as needed: CommitFailedError", EXIT_UNREACHABLE),
        (InvalidSettings("flow: no"), "flow: no", EXIT_INVALID_SETTINGS),
        (ValueError(SECRET), "ValueError", EXIT_SOFTWARE),
    ],
)
def test_the_reason_quotes_only_what_is_ours_and_the_code_is_that_of_who_is_at_fault(
    failure, reason, exit_code
):
    told = as_infrastructure_failure(failure)
    assert (str(told), told.exit_code) == (reason, exit_code)
