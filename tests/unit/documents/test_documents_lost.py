"""Following the documents ends with a reason that quotes nothing, and with who is at fault."""

from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
from aiokafka.errors import TopicAuthorizationFailedError

from schemas import Codec, RegistryUnreachable
from streams.documents.follower import DocumentFollower
from streams.documents.store import DocumentStore
from streams.kafka.kafka_clients import ServiceUnreachable
from streams.kafka.topic_reader import TopicReader
from streams.observability.failures import EXIT_SOFTWARE, EXIT_UNREACHABLE
from streams.settings import Settings

SECRET = "Zwaluwstaart-4711"


class FailingReader:
    """A reader whose first read fails."""

    def __init__(self, failure: Exception) -> None:
        self._failure = failure

    async def poll(self, *_: float) -> None:
        raise self._failure


@pytest.mark.parametrize(
    ("failure", "reason", "exit_code"),
    [
        (
            TopicAuthorizationFailedError(SECRET),
            "topic documents cannot be read: TopicAuthorizationFailedError",
            EXIT_UNREACHABLE,
        ),
        (
            ServiceUnreachable("no answer"),
            "topic documents cannot be read: ServiceUnreachable",
            EXIT_UNREACHABLE,
        ),
        (RegistryUnreachable("the registry is away"), "the registry is away", EXIT_UNREACHABLE),
        (ValueError(SECRET), "following documents ended: ValueError", EXIT_SOFTWARE),
    ],
)
async def test_what_ends_following_says_whose_fault_it_is(
    tmp_path: Path, failure: Exception, reason: str, exit_code: int
) -> None:
    with closing(DocumentStore(tmp_path)) as store:
        follower = DocumentFollower(store, Codec(), Settings())
        await follower._run(cast("TopicReader", FailingReader(failure)))
        lost = await follower.wait_failed()
    assert str(lost).partition(" at ")[0] == reason
    assert lost.exit_code == exit_code
    assert SECRET not in str(lost)
