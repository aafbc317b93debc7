"""The pages of the desk: forms that work without a script, and one small script for keys and news."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import structlog
from aiohttp import web

from schemas import Verdict
from streams.desk.access import may_decide
from streams.desk.answer_view import view_answer
from streams.desk.desk import (
    NONE,
    REJECT,
    SEND,
    SEND_EDITED,
    Choice,
    DecisionRefusal,
    Desk,
    ReviewerSession,
)
from streams.desk.desk_login import SESSION, DeskLogin
from streams.desk.desk_state import HeldFilter
from streams.desk.page_templates import PageTemplates
from streams.desk.wrong_words import KINDS

log = structlog.get_logger(__name__)

#: A form has the text of an answer and a comment, each URL-encoded.
MAX_FORM_BYTES: Final = 8 * 1024 * 1024
_MAX_BLOCKED: Final = 100
_MAX_DECISIONS: Final = 5
_MAX_FILTER_LENGTH: Final = 256
_NEWS_SECONDS: Final = 15.0
#: While a long history is read there would be news for every batch.
_NEWS_INTERVAL_SECONDS: Final = 0.1
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_ASSETS: Final = {
    "/desk.css": ("streams.desk", "text/css"),
    "/desk.js": ("streams.desk", "text/javascript"),
    "/icon.svg": ("streams.web", "image/svg+xml"),
}
_OUTCOMES: Final = {"send": SEND, "edit": SEND_EDITED, "reject": REJECT, "rate": NONE}
_LABELS: Final = {"t": "TRUE", "f": "FALSE", "g": "NOT_GIVEN"}
_FILTER_COOKIE: Final = "truthgate_filter"
_FILTERS: Final = tuple(each.name for each in fields(HeldFilter))
_TOO_LATE: Final = "late"
_NOTICES: Final[Mapping[str, str]] = {
    DecisionRefusal.GONE: "This answer is decided already, or its time limit has passed.",
    DecisionRefusal.TAKEN: "Another reviewer has this answer.",
    DecisionRefusal.EMPTY: "There is no text to send, or no rating.",
    DecisionRefusal.TOO_LARGE: "This text is larger than Kafka accepts (encoding.max_value_bytes).",
    DecisionRefusal.NOT_READY: "The desk is still reading its topics.",
    _TOO_LATE: "It was too late to undo this decision.",
}

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class DeskPages:
    """The routes of the desk.

    Args:
        desk: what they are about.
        login: who looks.
        templates: renders the pages.
    """

    def __init__(self, desk: Desk, login: DeskLogin, templates: PageTemplates) -> None:
        self._desk = desk
        self._login = login
        self._templates = templates

    def add_to(self, pages: web.Application) -> None:
        """Add the routes, and what guards them."""
        self._login.add_to(pages)
        pages.on_response_prepare.append(_protect)
        for path, (package, content_type) in _ASSETS.items():
            body = (files(package) / "assets" / path[1:]).read_bytes()
            pages.router.add_get(path, _asset(body, content_type))
        pages.router.add_get("/", self._show_answer)
        pages.router.add_get("/blocked", self._show_blocked)
        pages.router.add_get("/filter", self._show_filter)
        pages.router.add_post("/filter", self._filter)
        pages.router.add_post("/decide", self._decide)
        pages.router.add_post("/undo", self._undo)
        pages.router.add_get("/news", self._tell_news)

    async def _show_answer(self, request: web.Request) -> web.StreamResponse:
        """Show the answer that is asked for, or the next one."""
        session, wanted = request[SESSION], request.query.get("answer")
        if not may_decide(session.role):
            seen = await asyncio.to_thread(self._desk.peek, wanted, session, self._wanted(request))
            return await self._answer_page(
                request, seen, DecisionRefusal.GONE if wanted and not seen else None
            )
        if wanted is None:
            verdict = await asyncio.to_thread(self._desk.current, session, self._wanted(request))
            return await self._answer_page(request, verdict, request.query.get("notice"))
        found = await asyncio.to_thread(self._desk.open, wanted, session)
        if isinstance(found, DecisionRefusal):
            return _redirect(found)
        return await self._answer_page(request, found, request.query.get("notice"))

    async def _answer_page(
        self, request: web.Request, verdict: Verdict | None, notice: str | None
    ) -> web.Response:
        view = await asyncio.to_thread(view_answer, verdict) if verdict else None
        _log_viewed(request[SESSION], [verdict] if verdict else [])
        return await self._session_page(
            request,
            "answer.html",
            view=view,
            deadline=self._desk.deadline(verdict) if verdict else None,
            labels=_LABELS,
            kinds=KINDS,
            notice=_NOTICES.get(notice or ""),
        )

    async def _show_blocked(self, request: web.Request) -> web.StreamResponse:
        verdicts = await asyncio.to_thread(self._desk.blocked, self._wanted(request), _MAX_BLOCKED)
        _log_viewed(request[SESSION], verdicts)
        return await self._session_page(request, "blocked.html", verdicts=verdicts, notice=None)

    async def _show_filter(self, request: web.Request) -> web.StreamResponse:
        choices = await asyncio.to_thread(self._desk.choices)
        return await self._session_page(request, "filter.html", choices=choices, notice=None)

    async def _filter(self, request: web.Request) -> web.StreamResponse:
        """Keep the filter in a cookie, and give the answer on the screen back if it is not of it."""
        form = await self._login.form(request)
        chosen = {each: text for each in _FILTERS if (text := _text(form, each)[:_MAX_FILTER_LENGTH])}
        await asyncio.to_thread(self._desk.release, request[SESSION])
        response = self._changed()
        self._login.set_cookie(request, response, _FILTER_COOKIE, urlencode(chosen))
        return response

    def _wanted(self, request: web.Request) -> HeldFilter:
        chosen = dict(parse_qsl(self._login.cookie(request, _FILTER_COOKIE)))
        return HeldFilter(**{each: chosen.get(each, "") for each in _FILTERS})

    async def _decide(self, request: web.Request) -> web.StreamResponse:
        form = await self._login.form(request)
        verdict_id, action = _text(form, "verdict_id"), _text(form, "action")
        if action == "next":
            await asyncio.to_thread(self._desk.skip, verdict_id, request[SESSION])
            log.info("review_skipped", verdict_id=verdict_id, reviewer=request[SESSION].reviewer)
            return self._changed()
        if action not in _OUTCOMES:
            raise web.HTTPBadRequest(text="unknown action\n")
        rating, label = _text(form, "rating"), _text(form, "label")
        choice = Choice(
            _OUTCOMES[action],
            text=_text(form, "text"),
            rating=int(rating) if rating in {"1", "2", "3", "4", "5"} else None,
            label=label if label in _LABELS.values() else None,
            wrong=_text(form, "wrong"),
            comment=_text(form, "comment").strip() or None,
        )
        refusal = await asyncio.to_thread(self._desk.decide, verdict_id, request[SESSION], choice)
        # The session still has an answer whose text is refused: it is shown again.
        return self._changed(refusal)

    async def _undo(self, request: web.Request) -> web.StreamResponse:
        form = await self._login.form(request)
        verdict_id = await asyncio.to_thread(self._desk.undo, _text(form, "review_id"), request[SESSION])
        # The session has the answer again: it is the next one.
        return self._changed(None if verdict_id else _TOO_LATE)

    async def _tell_news(self, request: web.Request) -> web.StreamResponse:
        """Stream the counts, and whether the answer on the screen is still this session's."""
        session, shown, wanted = request[SESSION], request.query.get("answer"), self._wanted(request)
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        with suppress(ConnectionError):  # the page was closed
            while True:
                changed = self._desk.changes.next
                news = await asyncio.to_thread(self._news, session, shown, wanted)
                await stream.write(f"data: {json.dumps(news)}\n\n".encode())
                await asyncio.sleep(_NEWS_INTERVAL_SECONDS)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _NEWS_SECONDS)
        return stream

    def _news(self, session: ReviewerSession, shown: str | None, wanted: HeldFilter) -> dict[str, object]:
        counts = self._desk.counts()
        return {
            "waiting": counts.waiting,
            "blocked": counts.blocked,
            "unpublished": counts.unpublished,
            "problem": self._desk.problem,
            "free": shown is None and self._desk.has_next(session, wanted),
            "open": shown is not None and self._desk.is_open(shown, session),
            "decisions": [[each.review_id, each.status] for each in self._desk.decisions_of(session)][
                :_MAX_DECISIONS
            ],
        }

    def _changed(self, notice: str | None = None) -> web.Response:
        self._desk.changes.notify()
        return _redirect(notice)

    async def _session_page(self, request: web.Request, template: str, **values: Any) -> web.Response:
        session = request[SESSION]
        counts, decisions = await asyncio.to_thread(
            lambda: (self._desk.counts(), self._desk.decisions_of(session))
        )
        return self._templates.render(
            template,
            session=session,
            form_token=self._login.form_token(session),
            counts=counts,
            decisions=decisions[:_MAX_DECISIONS],
            problem=self._desk.problem,
            caught_up=self._desk.caught_up,
            wanted=asdict(self._wanted(request)),
            may_decide=may_decide(session.role),
            can_log_out=self._login.can_log_out,
            **values,
        )


def _text(form: Any, name: str) -> str:
    value = form.get(name, "")
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _log_viewed(session: ReviewerSession, verdicts: list[Verdict]) -> None:
    if verdict_ids := [each.verdict_id for each in verdicts]:
        log.info("desk_viewed", reviewer=session.reviewer, role=session.role, verdict_ids=verdict_ids)


def _redirect(notice: str | None = None) -> web.Response:
    return web.Response(status=303, headers={"Location": f"/?notice={notice}" if notice else "/"})


def _asset(body: bytes, content_type: str) -> Answer:
    async def serve(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=content_type, charset="utf-8")

    return serve


async def _protect(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
    response.headers["Cache-Control"] = "no-cache" if request.path in _ASSETS else "no-store"
