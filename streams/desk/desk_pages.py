"""The pages of the desk: forms that work without a script, one for keys, and htmx for news."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any, Final, get_args
from urllib.parse import parse_qsl, urlencode

import structlog
from aiohttp import web

from schemas import Review, Verdict
from streams.desk.access import may_decide
from streams.desk.answer_view import view_answer
from streams.desk.decisions import NONE, REJECT, SEND, SEND_EDITED, Handover
from streams.desk.desk import Desk, DeskCounts
from streams.desk.desk_login import SESSION, DeskLogin
from streams.desk.desk_state import FILTERS, HeldFilter
from streams.desk.page_templates import PageTemplates
from streams.desk.reviewer_choice import Choice, DecisionRefusal, answer_digest
from streams.desk.sessions import ReviewerSession, reviewer_name
from streams.desk.wrong_words import KINDS
from streams.settings import DeskOrder, DeskRole

log = structlog.get_logger(__name__)

#: A form has the text of an answer and a comment, each URL-encoded.
MAX_FORM_BYTES: Final = 8 * 1024 * 1024
_MAX_BLOCKED: Final = 100
_MAX_DECISIONS: Final = 5
_MAX_FILTER_LENGTH: Final = 256
_NEWS_SECONDS: Final = 15.0
#: The browser opens the next stream by itself, and who it is from is looked at again.
_MAX_STREAM_SECONDS: Final = 600.0
#: While a long history is read there would be news for every batch.
_NEWS_INTERVAL_SECONDS: Final = 0.1
#: What was counted is not counted again for so long, as long as nothing changes.
_COUNTED_SECONDS: Final = 1.0
_HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types htmx"
    ),
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: One script: htmx begins as soon as it is there, and must find what extends it.
_ASSETS: Final = {
    "/desk.css": ("streams.desk", ("desk.css",), "text/css"),
    "/desk.js": ("streams.desk", ("htmx.min.js", "hx-sse.min.js", "desk.js"), "text/javascript"),
    "/icon.svg": ("streams.web", ("icon.svg",), "image/svg+xml"),
}
_OUTCOMES: Final = {"send": SEND, "edit": SEND_EDITED, "reject": REJECT, "rate": NONE}
_LABELS: Final = {"t": "TRUE", "f": "FALSE", "g": "NOT_GIVEN"}
_FILTER_COOKIE: Final = "truthgate_filter"
ORDERS: Final = get_args(DeskOrder)
_MAX_REASON_LENGTH: Final = 300
_TOO_LATE: Final = "late"
_LEFT: Final = "left"
_OVER: Final = "over"
NOTICES: Final[Mapping[str, str]] = {
    DecisionRefusal.GONE: "This answer is decided already, or its time limit has passed.",
    DecisionRefusal.CHANGED: "This answer was published anew with another text. Look at it again.",
    DecisionRefusal.TAKEN: "Another reviewer has this answer.",
    DecisionRefusal.NOT_YOURS: "You chose for this answer, or it is for somebody else.",
    DecisionRefusal.NO_REASON: "Whoever gets this answer needs a reason.",
    DecisionRefusal.EMPTY: "There is no text to send, or no rating.",
    DecisionRefusal.EDITED: "The text was edited. Send the edited text, or restore the answer first.",
    DecisionRefusal.RATED_UNTRUE: "You say that this answer is untrue: edit or reject it, or rate it anew.",
    DecisionRefusal.TOO_LARGE: (
        "Text and comment together are larger than Kafka accepts (encoding.max_value_bytes). Shorten them."
    ),
    DecisionRefusal.NOT_READY: "The desk is still reading its topics, or stands by.",
    _TOO_LATE: "It was too late to undo this decision.",
    _LEFT: "Somebody else decides about this answer, or its time limit has passed. Press n for the next one.",
    _OVER: "You are logged out.",
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
        self._counted: dict[str, tuple[asyncio.Event, float, DeskCounts]] = {}

    def add_to(self, pages: web.Application) -> None:
        """Add the routes, and what guards them."""
        self._login.add_to(pages)
        pages.on_response_prepare.append(_protect)
        for path, (package, names, content_type) in _ASSETS.items():
            body = b"\n".join((files(package) / "assets" / name).read_bytes() for name in names)
            pages.router.add_get(path, _asset(body, content_type))
        pages.router.add_get("/", self._show_answer)
        pages.router.add_get("/blocked", self._show_blocked)
        pages.router.add_get("/filter", self._show_filter)
        pages.router.add_post("/filter", self._filter)
        pages.router.add_post("/decide", self._decide)
        pages.router.add_post("/pass", self._pass_on)
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
        handovers, proposals = await asyncio.to_thread(self._from_others, verdict, request[SESSION])
        _log_viewed(request[SESSION], [verdict] if verdict else [])
        return await self.session_page(
            request,
            "answer.html",
            view=view,
            audit=verdict is not None and self._is_audit(request, verdict),
            is_listed=verdict is not None and _is_listed(request, verdict),
            deadline=self._desk.deadline(verdict) if verdict else None,
            now=datetime.now(UTC),
            handovers=handovers,
            proposals=proposals,
            is_lead=request[SESSION].role is DeskRole.LEAD,
            seen=answer_digest(verdict) if verdict else "",
            labels=_LABELS,
            kinds=KINDS,
            notice=NOTICES.get(notice or ""),
        )

    def _from_others(
        self, verdict: Verdict | None, session: ReviewerSession
    ) -> tuple[list[Handover], list[Review]]:
        """Return who passed an answer on, and what reviewers chose who differ."""
        if verdict is None:
            return [], []
        verdict_id = verdict.verdict_id
        return self._desk.handovers(verdict_id), self._desk.disagreement(verdict_id, session)

    def _is_audit(self, request: web.Request, verdict: Verdict) -> bool:
        """Return whether a verdict is shown for its rating alone, without what was done with it."""
        return not _is_listed(request, verdict) and self._desk.is_audited(verdict)

    async def _show_blocked(self, request: web.Request) -> web.StreamResponse:
        verdicts = await asyncio.to_thread(self._desk.blocked, self._wanted(request), _MAX_BLOCKED)
        _log_viewed(request[SESSION], verdicts)
        return await self.session_page(request, "blocked.html", verdicts=verdicts, notice=None)

    async def _show_filter(self, request: web.Request) -> web.StreamResponse:
        choices = await asyncio.to_thread(self._desk.choices, request[SESSION].tenant)
        if request[SESSION].tenant:
            del choices["tenant"]
        return await self.session_page(request, "filter.html", choices=choices, orders=ORDERS, notice=None)

    async def _filter(self, request: web.Request) -> web.StreamResponse:
        """Keep the filter in a cookie, and give the answer on the screen back if it is not of it."""
        form = await self._login.form(request)
        chosen = {
            each: text for each in (*FILTERS, "order") if (text := _text(form, each)[:_MAX_FILTER_LENGTH])
        }
        await asyncio.to_thread(self._desk.release, request[SESSION])
        response = self._changed()
        self._login.set_cookie(request, response, _FILTER_COOKIE, urlencode(chosen))
        return response

    def _wanted(self, request: web.Request) -> HeldFilter:
        chosen = dict(parse_qsl(self._login.cookie(request, _FILTER_COOKIE)))
        if request[SESSION].tenant:
            chosen["tenant"] = request[SESSION].tenant
        order = chosen.get("order", "")
        filters = {each: chosen.get(each, "") for each in FILTERS}
        return HeldFilter(**filters, order=order if order in ORDERS else "")

    async def _decide(self, request: web.Request) -> web.StreamResponse:
        form = await self._login.form(request)
        verdict_id, action = _text(form, "verdict_id"), _text(form, "action")
        if action == "next":
            await asyncio.to_thread(self._desk.skip, verdict_id, request[SESSION])
            return self._changed(blocked="list" in form)
        if action not in _OUTCOMES:
            raise web.HTTPBadRequest(text="This form has no such action.")
        rating, label = _text(form, "rating"), _text(form, "label")
        choice = Choice(
            _OUTCOMES[action],
            text=_text(form, "text") if "text" in form else None,
            rating=int(rating) if rating in {"1", "2", "3", "4", "5"} else None,
            label=label if label in _LABELS.values() else None,
            wrong=_text(form, "wrong"),
            comment=_text(form, "comment").strip() or None,
            seen=_text(form, "seen"),
        )
        refusal = await asyncio.to_thread(self._desk.decide, verdict_id, request[SESSION], choice)
        # The session still has an answer whose text is refused: it is shown again.
        return self._changed(refusal, blocked="list" in form)

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        form = await self._login.form(request)
        reason, name = " ".join(_text(form, "reason").split()), _text(form, "reviewer").strip()
        receiver = reviewer_name(name) if name else ""
        if receiver is None or len(reason) > _MAX_REASON_LENGTH:
            raise web.HTTPBadRequest(text="This is no reviewer's name, or the reason is too long.")
        refusal = await asyncio.to_thread(
            self._desk.pass_on,
            _text(form, "verdict_id"),
            request[SESSION],
            reason,
            receiver,
            for_lead=bool(_text(form, "lead")),
        )
        return self._changed(refusal)

    async def _undo(self, request: web.Request) -> web.StreamResponse:
        form = await self._login.form(request)
        verdict_id = await asyncio.to_thread(self._desk.undo, _text(form, "review_id"), request[SESSION])
        # The session has the answer again: it is the next one.
        return self._changed(None if verdict_id else _TOO_LATE)

    async def _tell_news(self, request: web.Request) -> web.StreamResponse:
        """Stream the parts of the page that change, rendered; the event ``free``: an answer is there."""
        stream = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await stream.prepare(request)
        end, told = time.monotonic() + _MAX_STREAM_SECONDS, b""
        with suppress(ConnectionError):  # the page was closed
            while time.monotonic() < end:
                changed = self._desk.changes.next
                news = await self._news(request)
                # A comment shows whether the page is still there.
                await stream.write(news if news != told else b":\n\n")
                if self._login.is_over(request[SESSION]):
                    break
                told = news
                await asyncio.sleep(_NEWS_INTERVAL_SECONDS)
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), _NEWS_SECONDS)
        return stream

    async def _news(self, request: web.Request) -> bytes:
        session, shown = request[SESSION], request.query.get("answer")
        if self._login.is_over(session):
            body = self._templates.body(request, "news.html", over=True, notice=NOTICES[_OVER])
            return _event(body) + _event(b"", "over")
        if shown is None:
            is_free = await asyncio.to_thread(self._desk.has_next, session, self._wanted(request))
            notice = None
        else:
            is_free = False
            is_open = await asyncio.to_thread(self._desk.is_open, shown, session)
            notice = None if is_open else NOTICES[_LEFT]
        values = await self._values(request)
        body = self._templates.body(request, "news.html", **values, over=False, notice=notice)
        return _event(body) + (_event(b"", "free") if is_free else b"")

    def _changed(self, notice: str | None = None, *, blocked: bool = False) -> web.Response:
        """Go on with the next answer, or with the list of ``blocked`` ones."""
        self._desk.changes.notify()
        return _redirect(notice, "/blocked" if blocked and not notice else "/")

    def _counts(self, tenant: str) -> DeskCounts:
        """Count once for all open pages: each change of a long queue is news for every one of them."""
        at, now = self._desk.changes.next, time.monotonic()
        counted_at, until, counts = self._counted.get(tenant, (None, 0.0, None))
        if counts is None or counted_at is not at or now >= until:
            counts = self._desk.counts(tenant)
            self._counted[tenant] = (at, now + _COUNTED_SECONDS, counts)
        return counts

    async def session_page(self, request: web.Request, template: str, **values: Any) -> web.Response:
        """Return a page of somebody who has logged in."""
        return self._templates.render(request, template, **await self._values(request), **values)

    async def _values(self, request: web.Request) -> dict[str, Any]:
        """Return what every page of a session shows."""
        session, wanted = request[SESSION], self._wanted(request)
        counts, decisions = await asyncio.to_thread(
            lambda: (self._counts(session.tenant), self._desk.decisions_of(session))
        )
        return {
            "session": session,
            "form_token": self._login.form_token(session),
            "counts": counts,
            "decisions": decisions[:_MAX_DECISIONS],
            "problem": self._desk.problem,
            "caught_up": self._desk.caught_up,
            "stands_by": self._desk.stands_by,
            "wanted": {each: getattr(wanted, each) for each in FILTERS},
            "order": wanted.order,
            "may_decide": may_decide(session.role),
            "can_log_out": self._login.can_log_out,
            "sees_figures": session.role is not DeskRole.REVIEWER and not session.tenant,
            "leads_known_answers": (
                self._desk.known_answers and session.role is DeskRole.LEAD and not session.tenant
            ),
        }


def _text(form: Any, name: str) -> str:
    value = form.get(name, "")
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _log_viewed(session: ReviewerSession, verdicts: list[Verdict]) -> None:
    if verdict_ids := [each.verdict_id for each in verdicts]:
        log.info("desk_viewed", reviewer=session.reviewer, role=session.role, verdict_ids=verdict_ids)


def _event(data: bytes, name: str = "") -> bytes:
    """Return a server-sent event; without a name htmx takes it for parts of the page."""
    lines = [b"event: " + name.encode()] if name else []
    return b"".join(line + b"\n" for line in [*lines, *(b"data: " + each for each in data.splitlines()), b""])


def _is_listed(request: web.Request, verdict: Verdict) -> bool:
    """Return whether an answer was opened from the list of blocked ones, and is shown as one."""
    return "answer" in request.query and verdict.decision == "blocked"


def _redirect(notice: str | None = None, path: str = "/") -> web.Response:
    return web.Response(status=303, headers={"Location": f"{path}?notice={notice}" if notice else path})


def _asset(body: bytes, content_type: str) -> Answer:
    async def serve(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=content_type, charset="utf-8")

    return serve


async def _protect(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
    response.headers["Cache-Control"] = "no-cache" if request.path in _ASSETS else "no-store"
