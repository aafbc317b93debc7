"""The page on which leads see known answers, and end them."""

import asyncio
from typing import Final
from urllib.parse import quote

from aiohttp import web

from streams.desk.desk_login import SESSION, DeskLogin
from streams.desk.desk_pages import DeskPages
from streams.desk.desk_state import DeskState
from streams.desk.known_answer_publishing import KnownAnswerPublishing

_PATH: Final = "/known-answers"
_MOST: Final = 200
_MAX_ID_LENGTH: Final = 256
KNOWN_ANSWER_NOTICES: Final = {
    "ended": "It is ended: workers use it no more within seconds, and a person decides from now on.",
    "failed": "It is not ended: Kafka does not take it now, or there is no such answer. Try again.",
}


class KnownAnswersPage:
    """The list of known answers.

    Args:
        pages: renders it.
        login: who looks.
        state: has the answers.
        publishing: ends them.
    """

    def __init__(
        self, pages: DeskPages, login: DeskLogin, state: DeskState, publishing: KnownAnswerPublishing
    ) -> None:
        self._pages = pages
        self._login = login
        self._state = state
        self._publishing = publishing

    def add_to(self, pages: web.Application) -> None:
        """Add the routes."""
        pages.router.add_get(_PATH, self._show)
        pages.router.add_post(f"{_PATH}/end", self._end)

    async def _show(self, request: web.Request) -> web.StreamResponse:
        """Show the latest known answers, or the one with a key or verdict."""
        wanted = request.query.get("id", "").strip()[:_MAX_ID_LENGTH]
        answers = await asyncio.to_thread(self._state.listed_answers, wanted, _MOST)
        notice = KNOWN_ANSWER_NOTICES.get(request.query.get("notice", ""))
        return await self._pages.session_page(
            request, "known_answers.html", answers=answers, wanted_id=wanted, notice=notice
        )

    async def _end(self, request: web.Request) -> web.StreamResponse:
        """End a known answer."""
        form = await self._login.form(request)
        key = str(form.get("key", ""))[:_MAX_ID_LENGTH]
        ended = await self._publishing.end(key, request[SESSION].reviewer)
        location = f"{_PATH}?id={quote(key)}&notice={'ended' if ended else 'failed'}"
        return web.Response(status=303, headers={"Location": location})
