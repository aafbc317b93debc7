"""Verdicts as workers publish them: those on the sample's answers, repeated under other ids and times."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import get_args

from schemas import Codec
from schemas.records import Verdict
from streams.cli.demo.sample import Language
from streams.pipeline.context import StaticDocuments
from streams.pipeline.pipeline import OfflinePipeline, Pipeline
from streams.scorers.options import scorer_options
from streams.scorers.pool import ScoringPool
from streams.settings import Settings
from tests.benchmarks.load import answers
from tests.benchmarks.varied import WHEN

_OF_A_LANGUAGE = 100
_SECONDS = 60.0


def sample_verdicts() -> list[Verdict]:
    """Judge some answers of each language, with their documents inline."""
    return asyncio.run(_judged())


async def _judged() -> list[Verdict]:
    settings = Settings()
    given = [one for language in get_args(Language) for one in answers(language, _OF_A_LANGUAGE)]
    async with ScoringPool(settings.scoring.profile, 1, _SECONDS, scorer_options(settings)) as pool:
        pipeline = Pipeline(StaticDocuments.of(()), pool, settings.policy.decide, settings.scoring.profile)
        offline = OfflinePipeline(pipeline, WHEN)
        return [await offline.verdict(one) for one in given]


def encoded_verdicts(
    verdicts: Sequence[Verdict], count: int, per_second: float, begin: datetime = WHEN
) -> Iterator[tuple[Verdict, bytes]]:
    """Yield ``count`` verdicts with their bytes, so many a second of the chatbot's time."""
    codec = Codec()
    for number in range(count):
        at = begin + timedelta(seconds=number / per_second)
        one = replace(
            verdicts[number % len(verdicts)],
            verdict_id=f"{number:032x}",
            produced_at=at,
            scored_at=at + timedelta(milliseconds=200),
        )
        yield one, codec.encode(one)
