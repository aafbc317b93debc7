"""The lead's page: what waits, how long decisions take, and what they say of checks and judges."""

import asyncio
import time
from typing import Final

from aiohttp import web

from streams.desk.desk_pages import DeskPages
from streams.desk.desk_state import FIGURES_DAYS, DeskState
from streams.desk.lead_figures import lead_figures

_PERIODS: Final = (1, 7, FIGURES_DAYS)
_DAY_MS: Final = 86_400_000
#: The upper limits of the ages that are counted, in seconds; then those that are older.
AGES: Final = (300.0, 3_600.0, 86_400.0)


class LeadPage:
    """Shows the figures of a period.

    Args:
        pages: renders it.
        state: has the verdicts and reviews.
    """

    def __init__(self, pages: DeskPages, state: DeskState) -> None:
        self._pages = pages
        self._state = state

    def add_to(self, pages: web.Application) -> None:
        """Add the route."""
        pages.router.add_get("/lead", self._show)

    async def _show(self, request: web.Request) -> web.StreamResponse:
        days = next((each for each in _PERIODS if str(each) == request.query.get("days")), 7)
        now = round(1000 * time.time())
        found = await asyncio.to_thread(lambda: lead_figures(self._state.reviewed(now - days * _DAY_MS)))
        waiting = await asyncio.to_thread(self._state.waiting_by_age, now, AGES)
        return await self._pages.session_page(
            request, "lead.html", figures=found, waiting=waiting, days=days, periods=_PERIODS, notice=None
        )
