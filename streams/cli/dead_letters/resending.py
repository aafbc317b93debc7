"""One replay of dead letters: which are sent, each record once, and what becomes of them; or none ever."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, nullcontext
from functools import partial

from streams.cli.dead_letters.archive import Archive, Done, newest_of, open_archive
from streams.cli.dead_letters.letters import Choice, Letter, Place
from streams.cli.output import say, write_line
from streams.cli.sending import Outcome, Outgoing, open_sender
from streams.delivery import dead_letters as header
from streams.kafka.topics import Topics
from streams.observability.failures import BadAnswer
from streams.settings import Settings

Send = Callable[[Letter, Outgoing, Outcome], Awaitable[None]]


class Resent:
    """What became of the letters of one replay.

    Of letters that are sent or passed over only their places are kept: all the values together may be larger
    than the memory. Those of documents that wait are kept whole.

    Attributes:
        sent: how many records were sent, by topic.
        refused: how many letters could not be sent.
        documents_left: how many bad documents were left alone.
        failed_twice: how many letters were left alone that failed for the same reason twice.
        missing: how many places were named at which there is no such letter.
    """

    def __init__(self, topics: Topics, send: Send, *, documents: bool, repeated: bool = False) -> None:
        self.sent: Counter[str] = Counter()
        self.refused = 0
        self.documents_left = 0
        self.failed_twice = 0
        self.missing = 0
        self._topics = topics
        self._send = send
        self._documents = documents
        self._repeated = repeated
        self._held: list[Letter] = []
        self._about: dict[bytes, list[Letter]] = {}
        self._done: list[tuple[Letter, bytes]] = []

    async def take(self, letter: Letter) -> None:
        """Send a letter, unless one about the same record was taken before; documents wait."""
        if letter.failed_twice and not self._repeated:
            self.failed_twice += 1
            return
        if letter.record in self._about:
            self._about[letter.record].append(letter.without_content)
            return
        self._about[letter.record] = []
        if letter.is_from(self._topics.documents):
            self._hold(letter)
        elif letter.has_value:
            await self._again(letter)
        else:
            self._pass_over(letter)

    async def take_documents(self, settings: Settings) -> None:
        """Send those of the documents that waited whose record is still the newest of its key."""
        newest = await newest_of(settings, self._held) if self._held else set()
        for letter in self._held:
            if letter.place in newest:
                await self._again(letter)
            else:
                say(f"dead letter {letter.place}: left alone, its document has a newer record by now")

    def miss(self, place: Place, *, sent_before: bool) -> None:
        """Say why nothing is sent of a place that was named."""
        at = ":".join(map(str, place))
        if sent_before:
            say(f"dead letter {at}: was sent again before; --all sends it once more")
        else:
            self.missing += 1
            say(f"dead letter {at}: there is none of that stage, or none, or it was discarded")

    @property
    def done(self) -> list[Letter]:
        """The letters that need not be sent again: those that were sent, and those about the same records.

        Of each only the place, without key, value and headers.
        """
        return [each for place, record in self._done for each in (place, *self._about[record])]

    def _hold(self, letter: Letter) -> None:
        if not self._documents:
            self.documents_left += 1
        elif letter.has_value:
            self._held.append(letter)
        else:
            self._pass_over(letter)

    async def _again(self, letter: Letter) -> None:
        record = letter.again(self._topics)
        await self._send(letter, record, partial(self._settle, letter, record.topic))

    def _pass_over(self, letter: Letter) -> None:
        self.refused += 1
        original = f"{letter.reason(header.TOPIC)} {letter.described()['original']}"
        say(f"dead letter {letter.place}: its value was too large to be kept here; it came from {original}")

    def _settle(self, letter: Letter, topic: str, refusal: BadAnswer | None) -> None:
        if refusal is None:
            self.sent[topic] += 1
            self._done.append((letter.without_content, letter.record))
        else:
            self.refused += 1
            say(f"dead letter {letter.place}: the broker refuses it: {refusal.error_class}")


async def replay(
    settings: Settings, chosen: Choice, *, again: bool, documents: bool, repeated: bool, dry_run: bool
) -> Resent:
    """Send the chosen dead letters to the topics that they came from.

    Args:
        settings: where the cluster is.
        chosen: which letters.
        again: those too that were sent before.
        documents: bad documents too, each only while its record is the newest of its key.
        repeated: those too that failed for the same reason twice.
        dry_run: send nothing and write a line for each that would be sent.

    Raises:
        WrongUsage: a topic is not there.
        ServiceUnreachable: no broker answers.
        InfrastructureFailure: a record could not be delivered.
    """
    topics = Topics(settings.kafka.topic_prefix)
    async with open_archive(settings) as archive:
        kinds = {"documents": documents, "repeated": repeated}
        pretended = nullcontext(Resent(topics, _pretend, **kinds))
        opened = pretended if dry_run else _sending(settings, topics, archive, **kinds)
        async with opened as resent, aclosing(archive.letters(replayed_too=again)) as letters:
            async for letter in letters:
                if chosen(letter):
                    await resent.take(letter)
            await resent.take_documents(settings)
        for place in chosen.missed:
            resent.miss(place, sent_before=not again and archive.passed_over(place))
        return resent


@asynccontextmanager
async def _sending(
    settings: Settings, topics: Topics, archive: Archive, **kinds: bool
) -> AsyncIterator[Resent]:
    async with open_sender(settings, *topics.inputs) as sender:

        async def send(_: Letter, record: Outgoing, outcome: Outcome) -> None:
            await sender.send(record, outcome)

        resent = Resent(topics, send, **kinds)
        try:
            yield resent
            await sender.finish()
        finally:
            # Also when something fails half-way: what was sent is not to be sent again.
            await archive.remember(resent.done)


async def discard(settings: Settings, chosen: Choice) -> int:
    """Have the chosen dead letters never listed or sent again; returns of how many records they were.

    Those about the same record go together. Raises as :func:`replay` does.
    """
    letters_of: dict[bytes, list[Letter]] = {}
    meant: set[bytes] = set()
    async with open_archive(settings, Done.DISCARDED) as archive, aclosing(archive.letters()) as letters:
        async for letter in letters:
            letters_of.setdefault(letter.record, []).append(letter.without_content)
            if chosen(letter):
                meant.add(letter.record)
        await archive.remember(each for record in meant for each in letters_of[record])
    return len(meant)


async def _pretend(letter: Letter, record: Outgoing, outcome: Outcome) -> None:
    write_line(f"{letter.line}  to {record.topic}")
    outcome(None)
