"""An outage of Kafka, as a command bears it that goes on when it is over."""

from __future__ import annotations

from collections.abc import Callable

from streams.cli.output import say
from streams.kafka.clients import CredentialsRefused, ServiceUnreachable, check_reachable
from streams.kafka.topic_reader import Check
from streams.settings import KafkaSettings


class Outage:
    """A time in which Kafka does not answer: it is borne, and told once when it begins and when it ends.

    Args:
        ask: asks whether it does; raises ServiceUnreachable.
        tell: takes the lines for the person.
    """

    def __init__(self, ask: Check = check_reachable, tell: Callable[[str], None] = say) -> None:
        self._ask = ask
        self._tell = tell
        self._lasts = False

    async def check(self, settings: KafkaSettings) -> None:
        """Ask whether Kafka answers; raises CredentialsRefused, for which no waiting helps."""
        try:
            await self._ask(settings)
        except CredentialsRefused:
            raise
        except ServiceUnreachable as error:
            if not self._lasts:
                self._tell(f"{error}; going on when it does, Ctrl-C ends")
            self._lasts = True
        else:
            self.ends()

    def ends(self) -> None:
        """Note that Kafka answers, whether it did before or not."""
        if self._lasts:
            self._tell("Kafka answers again")
        self._lasts = False
