"""One replay of dead letters: which are sent, each record once, and what becomes of them; or none ever."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager, nullcontext
from functools import partial

from streams.cli.command_output import say, write_line
from streams.cli.dead_letters.archived_letters import ArchivedLetter, LetterFilter, LetterLocation
from streams.cli.dead_letters.dead_letter_archive import (
    DeadLetterArchive,
    LetterAction,
    newest_letters,
    open_archive,
)
from streams.cli.record_sender import OnSettled, OutgoingRecord, open_sender
from streams.delivery import dead_letters as header
from streams.kafka.topics import Topics
from streams.observability.failures import BadAnswer
from streams.settings import Settings

Send = Callable[[ArchivedLetter, OutgoingRecord, OnSettled], Awaitable[None]]


class ReplayResult:
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
        self._held: list[ArchivedLetter] = []
        self._about: dict[bytes, list[ArchivedLetter]] = {}
        self._done: list[tuple[ArchivedLetter, bytes]] = []

    async def process(self, letter: ArchivedLetter) -> None:
        """Send a letter, unless one about the same record was taken before; documents wait."""
        if letter.failed_twice and not self._repeated:
            self.failed_twice += 1
            return
        if letter.record_digest in self._about:
            self._about[letter.record_digest].append(letter.location_only)
            return
        self._about[letter.record_digest] = []
        if letter.is_from(self._topics.documents):
            self._hold(letter)
        elif letter.has_value:
            await self._again(letter)
        else:
            self._pass_over(letter)

    async def process_documents(self, settings: Settings) -> None:
        """Send those of the documents that waited whose record is still the newest of its key."""
        newest = await newest_letters(settings, self._held) if self._held else set()
        for letter in self._held:
            if letter.location in newest:
                await self._again(letter)
            else:
                say(f"dead letter {letter.location}: left alone, its document has a newer record by now")

    def report_missing(self, place: LetterLocation, *, sent_before: bool) -> None:
        """Say why nothing is sent of a place that was named."""
        at = ":".join(map(str, place))
        if sent_before:
            say(f"dead letter {at}: was sent again before; --all sends it once more")
        else:
            self.missing += 1
            say(f"dead letter {at}: there is none of that stage, or none, or it was discarded")

    @property
    def done(self) -> list[ArchivedLetter]:
        """The letters that need not be sent again: those that were sent, and those about the same records.

        Of each only the place, without key, value and headers.
        """
        return [each for place, record in self._done for each in (place, *self._about[record])]

    def _hold(self, letter: ArchivedLetter) -> None:
        if not self._documents:
            self.documents_left += 1
        elif letter.has_value:
            self._held.append(letter)
        else:
            self._pass_over(letter)

    async def _again(self, letter: ArchivedLetter) -> None:
        record = letter.to_record(self._topics)
        await self._send(letter, record, partial(self._settle, letter, record.topic))

    def _pass_over(self, letter: ArchivedLetter) -> None:
        self.refused += 1
        original = f"{letter.reason(header.TOPIC)} {letter.to_json()['original']}"
        say(
            f"dead letter {letter.location}: its value was too large to be kept here; it came from {original}"
        )

    def _settle(self, letter: ArchivedLetter, topic: str, refusal: BadAnswer | None) -> None:
        if refusal is None:
            self.sent[topic] += 1
            self._done.append((letter.location_only, letter.record_digest))
        else:
            self.refused += 1
            say(f"dead letter {letter.location}: the broker refuses it: {refusal.error_class}")


async def replay(
    settings: Settings,
    letter_filter: LetterFilter,
    *,
    again: bool,
    documents: bool,
    repeated: bool,
    dry_run: bool,
) -> ReplayResult:
    """Send the chosen dead letters to the topics that they came from.

    Args:
        settings: where the cluster is.
        letter_filter: which letters.
        again: those too that were sent before.
        documents: bad documents too, each only while its record is the newest of its key.
        repeated: those too that failed for the same reason twice.
        dry_run: send nothing and write a line for each that would be sent.

    Raises:
        UsageError: a topic is not there.
        ServiceUnreachable: no broker answers.
        InfrastructureFailure: a record could not be delivered.
    """
    topics = Topics(settings.kafka.topic_prefix)
    async with open_archive(settings) as archive:
        kinds = {"documents": documents, "repeated": repeated}
        pretended = nullcontext(ReplayResult(topics, _print_only, **kinds))
        opened = pretended if dry_run else _sending(settings, topics, archive, **kinds)
        async with opened as resent, aclosing(archive.letters(include_replayed=again)) as letters:
            async for letter in letters:
                if letter_filter(letter):
                    await resent.process(letter)
            await resent.process_documents(settings)
        for place in letter_filter.unmatched:
            resent.report_missing(place, sent_before=not again and archive.was_replayed_at(place))
        return resent


@asynccontextmanager
async def _sending(
    settings: Settings, topics: Topics, archive: DeadLetterArchive, **kinds: bool
) -> AsyncIterator[ReplayResult]:
    async with open_sender(settings, *topics.inputs) as sender:

        async def send(_: ArchivedLetter, record: OutgoingRecord, outcome: OnSettled) -> None:
            await sender.send(record, outcome)

        resent = ReplayResult(topics, send, **kinds)
        try:
            yield resent
            await sender.finish()
        finally:
            # Also when something fails half-way: what was sent is not to be sent again.
            await archive.remember(resent.done)


async def discard(settings: Settings, letter_filter: LetterFilter) -> int:
    """Have the chosen dead letters never listed or sent again; returns of how many records they were.

    Those about the same record go together. Raises as :func:`replay` does.
    """
    letters_of: dict[bytes, list[ArchivedLetter]] = {}
    meant: set[bytes] = set()
    async with (
        open_archive(settings, LetterAction.DISCARDED) as archive,
        aclosing(archive.letters()) as letters,
    ):
        async for letter in letters:
            letters_of.setdefault(letter.record_digest, []).append(letter.location_only)
            if letter_filter(letter):
                meant.add(letter.record_digest)
        await archive.remember(each for record in meant for each in letters_of[record])
    return len(meant)


async def _print_only(letter: ArchivedLetter, record: OutgoingRecord, outcome: OnSettled) -> None:
    write_line(f"{letter.summary}  to {record.topic}")
    outcome(None)
