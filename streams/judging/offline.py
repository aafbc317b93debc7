"""The judges for commands that judge files, which share nothing with a worker that runs beside them."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from streams.judging.advice import Advise
from streams.judging.budget.budget import Budget
from streams.judging.budget.opening import limits_of
from streams.judging.budget.windows import steady_clock
from streams.judging.cascade import Cascade, chain_of
from streams.judging.endpoints.observer import Observer
from streams.judging.endpoints.opening import open_judges
from streams.judging.kept import open_kept_opinions
from streams.settings import Settings
from streams.settings.judge_opinions import KeptOpinionSettings

#: As if all answers came by one partition: the whole of every limit.
_WHOLE = frozenset({0}), 1
#: There are no other answers to leave places to.
_ALL_MAY_WAIT = sys.maxsize
_NOT_KEPT = KeptOpinionSettings(mib=0)


@asynccontextmanager
async def open_file_judges(settings: Settings, observer: Observer) -> AsyncIterator[Advise | None]:
    """Give what asks the judges that the settings name, or None where they name nobody.

    The limits of the budget count for this run alone, from nothing: the file of what was spent is a worker's,
    which has it locked. Opinions are kept only in a file that the settings name, which may be a worker's too.

    Args:
        settings: say whom to ask, about which answers, and how long that may take.
        observer: hears of endpoints that fail.

    Raises:
        WrongSettings: an authority of TLS cannot be read.
    """
    asking = settings.judges
    kept_in = asking.kept if asking.kept.file else _NOT_KEPT
    with open_kept_opinions(kept_in, Path()) as kept:
        async with open_judges(asking, observer) as judges:
            if judges is None:
                yield None
                return
            budget = Budget(limits_of(asking.budget), steady_clock())
            chain = chain_of(asking)
            seconds = asking.time_limit_seconds
            cascade = Cascade(
                settings.policy, chain, judges, budget, kept, seconds, _ALL_MAY_WAIT, lambda: _WHOLE
            )
            yield cascade.advise
