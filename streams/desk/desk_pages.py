"""The pages of the desk: forms that work without a script, and one small script for keys and news."""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, fields
from importlib.resources import files
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from aiohttp import web
from aiohttp.typedefs import Handler
from jinja2 import Environment, PackageLoader, StrictUndefined

from schemas import Verdict
from streams.desk.answer_view import show_invisible, view_answer
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
from streams.desk.desk_state import HeldFilter
from streams.desk.sessions import COOKIE, SESSION_SECONDS, Sessions, reviewer_name
from streams.desk.wrong_words import KINDS
from streams.settings import DeskSettings
from streams.settings.worker_settings import is_loopback

_SESSION: Final = "session"
#: A form has the text of an answer and a comment, each URL-encoded.
MAX_FORM_BYTES: Final = 8 * 1024 * 1024
_MAX_BLOCKED: Final = 100
_MAX_DECISIONS: Final = 5
_MAX_FILTER_LENGTH: Final = 256
_WRONG_TOKEN_SECONDS: Final = 1.0
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
}
_ASSETS: Final = {
    "/desk.css": ("streams.desk", "text/css"),
    "/desk.js": ("streams.desk", "text/javascript"),
    "/icon.svg": ("streams.web", "image/svg+xml"),
}
_WITHOUT_SESSION: Final = frozenset({"/healthz", "/readyz", "/metrics", "/login", *_ASSETS})
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
    """The routes of the desk; every page but the login needs a session.

    Args:
        desk: what they are about.
        sessions: who looks.
        settings: who may look.
    """

    def __init__(self, desk: Desk, sessions: Sessions, settings: DeskSettings) -> None:
        self._desk = desk
        self._sessions = sessions
        self._settings = settings
        self._templates = Environment(
            loader=PackageLoader("streams.desk"), autoescape=True, undefined=StrictUndefined
        )
        self._templates.filters["visible"] = show_invisible

    def add_to(self, pages: web.Application) -> None:
        """Add the routes, and what guards them."""
        pages.middlewares.append(self._guard)
        pages.on_response_prepare.append(_protect)
        for path, (package, content_type) in _ASSETS.items():
            body = (files(package) / "assets" / path[1:]).read_bytes()
            pages.router.add_get(path, _asset(body, content_type))
        pages.router.add_get("/", self._show_answer)
        pages.router.add_get("/login", self._show_login)
        pages.router.add_post("/login", self._log_in)
        pages.router.add_post("/logout", self._log_out)
        pages.router.add_get("/blocked", self._show_blocked)
        pages.router.add_get("/filter", self._show_filter)
        pages.router.add_post("/filter", self._filter)
        pages.router.add_post("/decide", self._decide)
        pages.router.add_post("/undo", self._undo)
        pages.router.add_get("/news", self._tell_news)

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self._is_addressed(request):
            raise web.HTTPForbidden(text="unknown host\n")
        # Browsers say where a request comes from; another site's is refused, whatever it carries.
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise web.HTTPForbidden(text="a form of another site\n")
        if request.path in _WITHOUT_SESSION:
            return await handler(request)
        session = self._sessions.read(request.cookies.get(COOKIE, ""))
        if self._settings.user_header:
            return await self._guard_behind_proxy(request, handler, session)
        if session is None:
            raise web.HTTPSeeOther("/login")
        request[_SESSION] = session
        return await handler(request)

    async def _guard_behind_proxy(
        self, request: web.Request, handler: Handler, session: ReviewerSession | None
    ) -> web.StreamResponse:
        name = reviewer_name(request.headers.get(self._settings.user_header or "", ""))
        if name is None:
            raise web.HTTPForbidden(text="the proxy names no reviewer\n")
        cookie = None
        if session is None or session.reviewer != name:
            session, cookie = self._sessions.start(name)
        request[_SESSION] = session
        response = await handler(request)
        if cookie and not response.prepared:
            _set_cookie(request, response, cookie)
        return response

    def _is_addressed(self, request: web.Request) -> bool:
        """Return whether a request without a login names this machine: a name of others may lead here too."""
        if self._settings.token or self._settings.user_header:
            return True
        return is_loopback((request.url.host or "").strip("[]"))

    async def _show_login(self, _: web.Request) -> web.Response:
        return self._page("login.html", needs_token=self._settings.token is not None, problem=None)

    async def _log_in(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        name = reviewer_name(_text(form, "name"))
        expected = self._settings.token
        token_is_right = expected is None or hmac.compare_digest(
            expected.get_secret_value().encode(), _text(form, "token").encode("utf-8", "surrogatepass")
        )
        if name is None or not token_is_right:
            await asyncio.sleep(0 if token_is_right else _WRONG_TOKEN_SECONDS)
            problem = "Enter a name of at most 256 characters." if token_is_right else "Wrong token."
            page = self._page("login.html", needs_token=expected is not None, problem=problem)
            page.set_status(400 if token_is_right else 403)
            return page
        response = web.Response(status=303, headers={"Location": "/"})
        _set_cookie(request, response, self._sessions.start(name)[1])
        return response

    async def _log_out(self, request: web.Request) -> web.StreamResponse:
        await self._form(request)
        await asyncio.to_thread(self._desk.leave, request[_SESSION])
        self._desk.changes.notify()
        response = web.Response(status=303, headers={"Location": "/login"})
        response.del_cookie(COOKIE)
        return response

    async def _show_answer(self, request: web.Request) -> web.StreamResponse:
        """Show the answer that is asked for, or the next one."""
        session, wanted = request[_SESSION], request.query.get("answer")
        if wanted is None:
            verdict = await asyncio.to_thread(self._desk.current, session, _wanted(request))
            return await self._answer_page(request, verdict, request.query.get("notice"))
        found = await asyncio.to_thread(self._desk.open, wanted, session)
        if isinstance(found, DecisionRefusal):
            return _redirect(found)
        return await self._answer_page(request, found, request.query.get("notice"))

    async def _answer_page(
        self, request: web.Request, verdict: Verdict | None, notice: str | None
    ) -> web.Response:
        view = await asyncio.to_thread(view_answer, verdict) if verdict else None
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
        verdicts = await asyncio.to_thread(self._desk.blocked, _wanted(request), _MAX_BLOCKED)
        return await self._session_page(request, "blocked.html", verdicts=verdicts, notice=None)

    async def _show_filter(self, request: web.Request) -> web.StreamResponse:
        choices = await asyncio.to_thread(self._desk.choices)
        return await self._session_page(request, "filter.html", choices=choices, notice=None)

    async def _filter(self, request: web.Request) -> web.StreamResponse:
        """Keep the filter in a cookie, and give the answer on the screen back if it is not of it."""
        form = await self._form(request)
        chosen = {each: text for each in _FILTERS if (text := _text(form, each)[:_MAX_FILTER_LENGTH])}
        await asyncio.to_thread(self._desk.release, request[_SESSION])
        response = self._changed()
        _set_cookie(request, response, urlencode(chosen), _FILTER_COOKIE)
        return response

    async def _decide(self, request: web.Request) -> web.StreamResponse:
        form = await self._form(request)
        verdict_id, action = _text(form, "verdict_id"), _text(form, "action")
        if action == "next":
            await asyncio.to_thread(self._desk.skip, verdict_id, request[_SESSION])
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
        refusal = await asyncio.to_thread(self._desk.decide, verdict_id, request[_SESSION], choice)
        # The session still has an answer whose text is refused: it is shown again.
        return self._changed(refusal)

    async def _undo(self, request: web.Request) -> web.StreamResponse:
        form = await self._form(request)
        verdict_id = await asyncio.to_thread(self._desk.undo, _text(form, "review_id"), request[_SESSION])
        # The session has the answer again: it is the next one.
        return self._changed(None if verdict_id else _TOO_LATE)

    async def _tell_news(self, request: web.Request) -> web.StreamResponse:
        """Stream the counts, and whether the answer on the screen is still this session's."""
        session, shown, wanted = request[_SESSION], request.query.get("answer"), _wanted(request)
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

    async def _form(self, request: web.Request) -> Any:
        """Return the form of a session; its token says that one of our pages made it."""
        form = await request.post()
        if not self._sessions.is_form_token(request[_SESSION], _text(form, "form_token")):
            raise web.HTTPForbidden(text="the form is not of this session\n")
        return form

    def _changed(self, notice: str | None = None) -> web.Response:
        self._desk.changes.notify()
        return _redirect(notice)

    async def _session_page(self, request: web.Request, template: str, **values: Any) -> web.Response:
        session = request[_SESSION]
        counts, decisions = await asyncio.to_thread(
            lambda: (self._desk.counts(), self._desk.decisions_of(session))
        )
        return self._page(
            template,
            session=session,
            form_token=self._sessions.form_token(session),
            counts=counts,
            decisions=decisions[:_MAX_DECISIONS],
            problem=self._desk.problem,
            caught_up=self._desk.caught_up,
            wanted=asdict(_wanted(request)),
            can_log_out=not self._settings.user_header,
            **values,
        )

    def _page(self, template: str, **values: Any) -> web.Response:
        text = self._templates.get_template(template).render(**values)
        # A text may have half of a surrogate pair, which no encoding has.
        body = text.encode("utf-8", "replace")
        return web.Response(body=body, content_type="text/html", charset="utf-8")


def _text(form: Any, name: str) -> str:
    value = form.get(name, "")
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def _redirect(notice: str | None = None) -> web.Response:
    return web.Response(status=303, headers={"Location": f"/?notice={notice}" if notice else "/"})


def _wanted(request: web.Request) -> HeldFilter:
    chosen = dict(parse_qsl(request.cookies.get(_FILTER_COOKIE, "")))
    return HeldFilter(**{each: chosen.get(each, "") for each in _FILTERS})


def _set_cookie(request: web.Request, response: web.StreamResponse, cookie: str, name: str = COOKIE) -> None:
    secure = request.secure or request.headers.get("X-Forwarded-Proto") == "https"
    response.set_cookie(
        name, cookie, max_age=SESSION_SECONDS, httponly=True, samesite="Strict", secure=secure
    )


def _asset(body: bytes, content_type: str) -> Answer:
    async def serve(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=content_type, charset="utf-8")

    return serve


async def _protect(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(_HEADERS)
    response.headers["Cache-Control"] = "no-cache" if request.path in _ASSETS else "no-store"
