"""Replaying and discarding dead letters: each record once, and documents only while they are the newest."""

from collections import Counter
from contextlib import aclosing, nullcontext
from functools import partial

from streams.cli.command_output import say, write_line
from streams.cli.dead_letters.dead_letter_archive import (
    ArchivedLetter,
    LetterAction,
    LetterFilter,
    LetterLocation,
    open_archive,
)
from streams.cli.record_sender import Sender, open_sender
from streams.cli.topic_reading import read_newest
from streams.delivery import dead_letters as header
from streams.kafka.topics import Topics
from streams.observability.failures import BadAnswer
from streams.settings import Settings


class ReplayResult:
    """The outcome of one replay.

    Only the locations of letters that were sent or skipped are stored: all values together may exceed the
    memory. Letters of documents are stored as a whole until they are sent.

    Args:
        topics: the topics that records came from.
        documents: include bad documents, each only while its record is the newest of its key.
        repeated: include letters that failed twice for the same reason.

    Attributes:
        sender: sends the records; None writes a line for each instead.
        sent: how many records were sent, by topic.
        refused: how many letters could not be sent.
        documents_left: how many bad documents were left.
        failed_twice: how many letters were left that failed twice for the same reason.
        missing: how many given locations have no such letter.
    """

    def __init__(self, topics: Topics, *, documents: bool, repeated: bool = False) -> None:
        self.sender: Sender | None = None
        self.sent: Counter[str] = Counter()
        self.refused = self.documents_left = self.failed_twice = self.missing = 0
        self._topics = topics
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
            is_document = letter.reason(header.TOPIC) == self._topics.documents
            if is_document and not self._documents:
                self.documents_left += 1
            elif letter.reason(header.VALUE_BYTES):  # it has only the size and hash of the original value
                self.refused += 1
                origin = f"{letter.reason(header.TOPIC)} {letter.to_json()['original']}"
                say(f"dead letter {letter.location}: value too large for the topic, see {origin}")
            elif is_document:
                self._waiting.append(letter)
            else:
                await self._send_again(letter)

    async def process_documents(self, settings: Settings) -> None:
        """Send the waiting documents whose record is still the newest of its key.

        An offset that has another record by now is not the letter's. Raises as :func:`read_newest` does.
        """
        newest = await read_newest(settings.kafka, self._topics.documents) if self._waiting else {}
        for letter in self._waiting:
            record = newest.get(letter.key)
            origin = (letter.reason(header.PARTITION), letter.reason(header.OFFSET), letter.value)
            if record and (str(record.partition), str(record.offset), record.value) == origin:
                await self._send_again(letter)
            else:
                say(f"dead letter {letter.location}: not sent, its document has a newer record")

    def report_missing(self, location: LetterLocation, *, sent_before: bool) -> None:
        """Report why nothing is sent for a given location."""
        if sent_before:
            say(f"dead letter {':'.join(map(str, location))}: was replayed before; --all sends it again")
        else:
            self.missing += 1
            report_no_letter(location)

    @property
    def done(self) -> list[ArchivedLetter]:
        """The locations of the letters that were sent, and of their duplicates."""
        return [each for sent, record in self._done for each in (sent, *self._duplicates[record])]

    async def _send_again(self, letter: ArchivedLetter) -> None:
        record = letter.to_record(self._topics)
        settle = partial(self._settle, letter, record.topic)
        if self.sender:
            await self.sender.send(record, settle)
        else:
            write_line(f"{letter.summary}  to {record.topic}")
            settle(None)

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
    settings: Settings, letter_filter: LetterFilter, result: ReplayResult, *, again: bool, dry_run: bool
) -> None:
    """Send the selected dead letters to the topics that they came from.

    Args:
        settings: name the cluster and the topics.
        letter_filter: selects the letters.
        result: selects further, and counts.
        again: include letters that were replayed before.
        dry_run: send nothing, and write a line for each letter that would be sent.

    Raises:
        UsageError: a topic does not exist.
        ServiceUnreachable: no broker answers.
        InfrastructureFailure: a record could not be delivered.
    """
    inputs = Topics(settings.kafka.topic_prefix).inputs
    async with open_archive(settings) as archive:
        opened = nullcontext() if dry_run else open_sender(settings, *inputs)
        try:
            async with opened as result.sender, aclosing(archive.letters(include_replayed=again)) as letters:
                async for letter in letters:
                    if letter_filter(letter):
                        await result.process(letter)
                await result.process_documents(settings)
        finally:
            # After a failure, too: letters that were sent are not to be sent again.
            if not dry_run:
                await archive.remember(result.done)
        for location in letter_filter.unmatched:
            result.report_missing(location, sent_before=not again and archive.was_replayed_at(location))


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
