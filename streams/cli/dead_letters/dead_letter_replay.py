"""Replaying and discarding dead letters: each record once, and documents only while they are the newest."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, nullcontext
from functools import partial

from aiokafka import ConsumerRecord

from streams.cli.command_output import say, write_line
from streams.cli.dead_letters.dead_letter_archive import (
    ArchivedLetter,
    DeadLetterArchive,
    LetterAction,
    LetterFilter,
    LetterLocation,
    open_archive,
)
from streams.cli.record_sender import OnSettled, OutgoingRecord, open_sender
from streams.cli.topic_reading import open_topics
from streams.delivery import dead_letters as header
from streams.kafka.topics import Topics
from streams.observability.failures import BadAnswer
from streams.settings import Settings

Send = Callable[[ArchivedLetter, OutgoingRecord, OnSettled], Awaitable[None]]

#: The records of one key by partition: the latest time there, and the newest record.
_NewestRecords = dict[int, tuple[int, ConsumerRecord]]


class ReplayResult:
    """The outcome of one replay.

    Only the locations of letters that were sent or skipped are stored: all values together may exceed the
    memory. Letters of documents are stored as a whole until they are sent.

    Attributes:
        sent: how many records were sent, by topic.
        refused: how many letters could not be sent.
        documents_left: how many bad documents were left.
        failed_twice: how many letters were left that failed twice for the same reason.
        missing: how many given locations have no such letter.
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
        self._waiting: list[ArchivedLetter] = []
        self._duplicates: dict[bytes, list[ArchivedLetter]] = {}
        self._done: list[tuple[ArchivedLetter, bytes]] = []

    async def process(self, letter: ArchivedLetter) -> None:
        """Send a letter, unless one about the same record was processed before; documents wait."""
        if letter.failed_twice and not self._repeated:
            self.failed_twice += 1
        elif letter.record_digest in self._duplicates:
            self._duplicates[letter.record_digest].append(letter.location_only)
        else:
            self._duplicates[letter.record_digest] = []
            is_document = letter.is_from(self._topics.documents)
            if is_document and not self._documents:
                self.documents_left += 1
            elif not letter.has_value:
                self.refused += 1
                origin = f"{letter.reason(header.TOPIC)} {letter.to_json()['original']}"
                say(f"dead letter {letter.location}: value too large for the topic, see {origin}")
            elif is_document:
                self._waiting.append(letter)
            else:
                await self._send_again(letter)

    async def process_documents(self, settings: Settings) -> None:
        """Send the waiting documents whose record is still the newest of its key."""
        newest = await newest_letters(settings, self._waiting) if self._waiting else set()
        for letter in self._waiting:
            if letter.location in newest:
                await self._send_again(letter)
            else:
                say(f"dead letter {letter.location}: not sent, its document has a newer record")

    def report_missing(self, location: LetterLocation, *, sent_before: bool) -> None:
        """Report why nothing is sent for a given location."""
        at = ":".join(map(str, location))
        if sent_before:
            say(f"dead letter {at}: was replayed before; --all sends it again")
        else:
            self.missing += 1
            report_no_letter(location)

    @property
    def done(self) -> list[ArchivedLetter]:
        """The locations of the letters that were sent, and of their duplicates."""
        return [each for sent, record in self._done for each in (sent, *self._duplicates[record])]

    async def _send_again(self, letter: ArchivedLetter) -> None:
        record = letter.to_record(self._topics)
        await self._send(letter, record, partial(self._settle, letter, record.topic))

    def _settle(self, letter: ArchivedLetter, topic: str, refusal: BadAnswer | None) -> None:
        if refusal is None:
            self.sent[topic] += 1
            self._done.append((letter.location_only, letter.record_digest))
        else:
            self.refused += 1
            say(f"dead letter {letter.location}: refused by the broker: {refusal.error_class}")


def report_no_letter(location: LetterLocation) -> None:
    """Report that a given location has no letter that the filter selects."""
    at = ":".join(map(str, location))
    say(f"dead letter {at}: does not exist, was discarded, or failed at another stage")


async def replay(
    settings: Settings,
    letter_filter: LetterFilter,
    *,
    again: bool,
    documents: bool,
    repeated: bool,
    dry_run: bool,
) -> ReplayResult:
    """Send the selected dead letters to the topics that they came from.

    Args:
        settings: name the cluster and the topics.
        letter_filter: selects the letters.
        again: include letters that were replayed before.
        documents: include bad documents, each only while its record is the newest of its key.
        repeated: include letters that failed twice for the same reason.
        dry_run: send nothing, and write a line for each letter that would be sent.

    Raises:
        UsageError: a topic does not exist.
        ServiceUnreachable: no broker answers.
        InfrastructureFailure: a record could not be delivered.
    """
    topics = Topics(settings.kafka.topic_prefix)
    async with open_archive(settings) as archive:
        included = {"documents": documents, "repeated": repeated}
        dry = nullcontext(ReplayResult(topics, _print_only, **included))
        opened = dry if dry_run else _open_replay(settings, topics, archive, **included)
        async with opened as result, aclosing(archive.letters(include_replayed=again)) as letters:
            async for letter in letters:
                if letter_filter(letter):
                    await result.process(letter)
            await result.process_documents(settings)
        for location in letter_filter.unmatched:
            result.report_missing(location, sent_before=not again and archive.was_replayed_at(location))
        return result


@asynccontextmanager
async def _open_replay(
    settings: Settings, topics: Topics, archive: DeadLetterArchive, **included: bool
) -> AsyncIterator[ReplayResult]:
    async with open_sender(settings, *topics.inputs) as sender:

        async def send(_: ArchivedLetter, record: OutgoingRecord, on_settled: OnSettled) -> None:
            await sender.send(record, on_settled)

        result = ReplayResult(topics, send, **included)
        try:
            yield result
            await sender.finish()
        finally:
            # After a failure, too: letters that were sent are not to be sent again.
            await archive.remember(result.done)


async def _print_only(letter: ArchivedLetter, record: OutgoingRecord, on_settled: OnSettled) -> None:
    write_line(f"{letter.summary}  to {record.topic}")
    on_settled(None)


async def discard(settings: Settings, letter_filter: LetterFilter) -> int:
    """Discard the selected dead letters and their duplicates, and return the number of their records.

    Raises as :func:`replay` does.
    """
    letters_of: dict[bytes, list[ArchivedLetter]] = {}
    selected: set[bytes] = set()
    async with (
        open_archive(settings, LetterAction.DISCARDED) as archive,
        aclosing(archive.letters()) as letters,
    ):
        async for letter in letters:
            letters_of.setdefault(letter.record_digest, []).append(letter.location_only)
            if letter_filter(letter):
                selected.add(letter.record_digest)
        await archive.remember(each for record in selected for each in letters_of[record])
    return len(selected)


async def newest_letters(settings: Settings, letters: Sequence[ArchivedLetter]) -> set[str]:
    """Read the documents topic, and return the locations of letters whose record is the newest of its key.

    As in a worker's store, the later record is newer within a partition, and between partitions the one
    with the later timestamp. An offset that has another record by now is not the letter's.

    Raises:
        UsageError: the topic does not exist.
        ServiceUnreachable: no broker answers, or reading stalls.
    """
    keys = {letter.key for letter in letters}
    topic = Topics(settings.kafka.topic_prefix).documents
    newest: dict[bytes | None, _NewestRecords] = {}
    async with (
        open_topics(settings.kafka, topic) as (reader, log),
        aclosing(reader.read_between(log.beginning_offsets, log.end_offsets)) as batches,
    ):
        async for records in batches:
            for record in records:
                if record.key in keys:
                    of_key = newest.setdefault(record.key, {})
                    earlier, _ = of_key.get(record.partition, (record.timestamp, None))
                    of_key[record.partition] = (max(earlier, record.timestamp), record)
    return {letter.location for letter in letters if _is_newest(letter, newest.get(letter.key, {}))}


def _is_newest(letter: ArchivedLetter, newest: _NewestRecords) -> bool:
    if not newest:
        return False
    _, partition = max((timestamp, partition) for partition, (timestamp, _) in newest.items())
    record = newest[partition][1]
    origin = (letter.reason(header.PARTITION), letter.reason(header.OFFSET))
    return (str(record.partition), str(record.offset), record.value) == (*origin, letter.value)
