"""How long partitions went without a verdict while an answer waited for one."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from schemas import Codec
from schemas.records import ChatbotAnswer
from streams.kafka.topics import Topics
from streams.settings import Settings
from tests.support.ledger import Ledger
from tests.support.records import consume_all


async def longest_pauses(
    settings: Settings, ledger: Ledger, answers: Collection[ChatbotAnswer]
) -> dict[int, float]:
    """Give the longest pause of each partition, in seconds, over these answers.

    A pause ends with a verdict. It began when the answer was published, or with the verdict before on the
    same partition if that was later.
    """
    codec, asked = Codec(), {answer.answer_id for answer in answers}
    judged: dict[str, int] = {}
    for record, verdict in zip(ledger.records, ledger.verdicts, strict=True):
        judged[verdict.answer_id] = min(record.timestamp, judged.get(verdict.answer_id, record.timestamp))
    waited: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for record in await consume_all(settings.kafka, Topics(settings.kafka.topic_prefix).answers):
        answer_id = codec.decode(record.value, ChatbotAnswer).answer_id
        if answer_id in asked:
            waited[record.partition].append((judged[answer_id], record.timestamp))
    return {partition: longest(sorted(times)) / 1000 for partition, times in sorted(waited.items())}


def longest(times: Sequence[tuple[int, int]]) -> int:
    """Give the longest pause of one partition, from when each verdict and its answer came, in their order."""
    befores = [0, *(verdict for verdict, _ in times)]
    return max(verdict - max(came, before) for (verdict, came), before in zip(times, befores, strict=False))
