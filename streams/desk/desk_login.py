"""The desk's guard: who a request is from, by token, proxy or issuer, and whether its route is for them."""

import asyncio
import sqlite3
from collections.abc import Mapping
from typing import Any, Final

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler

from scoring.cache.shared_database import error_name
from streams.desk.access import OF_ALL_TENANTS, ROUTES, claim_values, role_from, route_of
from streams.desk.desk import Desk
from streams.desk.oidc import LoginAttempt, OidcClient, OidcRefusal
from streams.desk.page_templates import (
    LANGUAGE,
    LANGUAGES,
    PageTemplates,
    accepted_languages,
    choose_language,
)
from streams.desk.rate_limit import RateLimit
from streams.desk.sessions import COOKIE, SESSION_SECONDS, ReviewerSession, Sessions, is_same, reviewer_name
from streams.settings import DeskRole, DeskSettings
from streams.settings.worker_settings import is_loopback

log = structlog.get_logger(__name__)

SESSION: Final = web.RequestKey("session", ReviewerSession)
_LOGIN_COOKIE: Final = "truthgate_desk_login"
_LANGUAGE_COOKIE: Final = "truthgate_language"
_LANGUAGE_SECONDS: Final = 365 * 86_400
#: Texts of errors that the server finds by itself.
ERROR_TEXTS: Final[Mapping[int, str]] = {
    404: "There is no such page.",
    405: "This page cannot be opened in this way.",
    413: "This is larger than the desk accepts.",
}
_KEPT: Final = frozenset({"Allow", "Retry-After"})
#: So long a person may take at the issuer.
_LOGIN_SECONDS: Final = 600
_WRONG_TOKEN_SECONDS: Final = 1.0
_DECISIONS: Final = frozenset({"POST /decide", "POST /pass"})
_LOGINS: Final = frozenset({"POST /login", "GET /oidc/login", "GET /oidc/callback"})


class DeskLogin:
    """The login, and what every request of the desk goes through.

    Args:
        desk: what a session that ends gives its answer back to.
        sessions: writes and reads cookies.
        settings: who may log in, and how.
        templates: renders the pages.
    """

    def __init__(
        self, desk: Desk, sessions: Sessions, settings: DeskSettings, templates: PageTemplates
    ) -> None:
        self._desk = desk
        self._sessions = sessions
        self._settings = settings
        self._templates = templates
        self._oidc = OidcClient(settings) if settings.oidc.issuer else None
        self._logins = RateLimit(settings.login_attempts_per_minute)
        self._decisions = RateLimit(settings.decisions_per_minute)

    @property
    def can_log_out(self) -> bool:
        """Whether the desk ends sessions, and not a proxy."""
        return not self._settings.user_header

    def add_to(self, pages: web.Application) -> None:
        """Add the routes, and the guard of all routes."""
        pages.middlewares.extend((self._in_language, self._guard))
        pages.router.add_post("/logout", self._log_out)
        if self._oidc:
            pages.router.add_get("/login", self._show_login)
            pages.router.add_get("/oidc/login", self._ask_issuer)
            pages.router.add_get("/oidc/callback", self._return_from_issuer)
        elif not self._settings.user_header:
            pages.router.add_get("/login", self._show_login)
            pages.router.add_post("/login", self._log_in)

    async def form(self, request: web.Request) -> Any:
        """Return the form of a session; its token says that one of our pages made it."""
        form = await _read_form(request)
        token = form.get("form_token", "")
        if not isinstance(token, str) or not self._sessions.is_form_token(request[SESSION], token):
            raise web.HTTPForbidden(text="This form is not of this session.")
        return form

    def is_over(self, session: ReviewerSession) -> bool:
        """Return whether a session was ended since its request began."""
        return self._sessions.is_over(session)

    def form_token(self, session: ReviewerSession) -> str:
        """Return what every form of a session carries."""
        return self._sessions.form_token(session)

    @web.middleware
    async def _in_language(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Choose the language: the one that the address names, which is kept, or that of the browser."""
        named = request.query.get("language", "")
        accepted = accepted_languages(request.headers.get("Accept-Language", ""))
        request[LANGUAGE] = choose_language(named, self.cookie(request, _LANGUAGE_COOKIE), *accepted)
        try:
            response = await handler(request)
        except web.HTTPError as error:
            text = ERROR_TEXTS.get(error.status, error.text)
            response = self._templates.render(request, "error.html", error.status, text=text)
            response.headers.update({name: error.headers[name] for name in _KEPT & error.headers.keys()})
        if named in LANGUAGES:
            self.set_cookie(request, response, _LANGUAGE_COOKIE, named, _LANGUAGE_SECONDS)
        return response

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if not self._is_addressed(request):
            raise web.HTTPForbidden(text="The desk has another address.")
        # Browsers say where a request comes from; another site's is refused, whatever it carries.
        if request.method == "POST" and request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise web.HTTPForbidden(text="This form is of another site.")
        if request.match_info.http_exception:
            raise request.match_info.http_exception
        route = route_of(request)
        roles = ROUTES.get(route, frozenset())
        if roles is None:
            if route in _LOGINS:
                self._limit(self._logins, route, self._address(request))
            return await handler(request)
        session, cookie = self._session(request)
        if session.role not in roles or (session.tenant and route in OF_ALL_TENANTS):
            log.warning("desk_forbidden", reviewer=session.reviewer, role=session.role, route=route)
            raise web.HTTPForbidden(text="Your role does not include this.")
        if route in _DECISIONS:
            self._limit(self._decisions, route, session.person)
        request[SESSION] = session
        try:
            response = await handler(request)
        except sqlite3.OperationalError as error:
            log.error("desk_store_failed", route=route, error_type=error_name(error))  # noqa: TRY400
            raise web.HTTPServiceUnavailable(
                text="The desk cannot use its store (desk.store): is the disk full? Nothing was decided."
            ) from None
        if cookie and not response.prepared:
            self.set_cookie(request, response, COOKIE, cookie)
        return response

    def _session(self, request: web.Request) -> tuple[ReviewerSession, str | None]:
        """Return the session of a request, with its cookie if it is new; raises what is answered instead."""
        session = self._sessions.read(self.cookie(request, COOKIE))
        if self._settings.user_header is None:
            if session is None:
                if "HX-Request" in request.headers:  # a script would follow to the login in vain
                    raise web.HTTPUnauthorized(text="You are logged out.")
                raise web.HTTPSeeOther("/login")
            return session, None
        name = reviewer_name(_header(request, self._settings.user_header))
        if name is None:
            raise web.HTTPForbidden(text="The proxy names no reviewer.")
        header = self._settings.role_header
        role = self._role(_header(request, header).split(",")) if header else DeskRole.REVIEWER
        if role is None:
            log.warning("desk_login_refused", address=self._address(request), reason="no role")
            raise web.HTTPForbidden(text="You have no role at this desk.")
        tenant = _header(request, self._settings.tenant_header or "").strip()
        if self._settings.tenant_header and not tenant:
            log.warning("desk_login_refused", address=self._address(request), reason="no tenant")
            raise web.HTTPForbidden(text="You have no tenant at this desk.")
        if session and (session.reviewer, session.role, session.tenant) == (name, role, tenant):
            return session, None
        return self._start(request, name, role, tenant, by_proxy=True)

    def _role(self, values: list[str]) -> DeskRole | None:
        return role_from((value.strip() for value in values), self._settings.roles)

    def _start(
        self, request: web.Request, name: str, role: DeskRole, tenant: str = "", *, by_proxy: bool = False
    ) -> tuple[ReviewerSession, str]:
        address = self._address(request)
        self._logins.forget(address)  # many people may share it
        log.info("desk_logged_in", reviewer=name, role=role, address=address)
        return self._sessions.start(name, role, tenant, by_proxy=by_proxy)

    def _is_addressed(self, request: web.Request) -> bool:
        """Return whether a request without a login names this machine: a name of others may lead here too."""
        return bool(self._settings.logins) or is_loopback((request.url.host or "").strip("[]"))

    def _address(self, request: web.Request) -> str:
        """Return the address of a client, as the trusted proxy saw it if there is one."""
        seen = ",".join(request.headers.getall(self._settings.address_header or "", []))
        return seen.rpartition(",")[2].strip() or request.remote or ""

    def _limit(self, limit: RateLimit, route: str, key: str) -> None:
        if seconds := limit.take(key):
            log.warning("desk_rate_limited", route=route, key=key)
            raise web.HTTPTooManyRequests(
                text="Too many requests; try again in a minute.", headers={"Retry-After": str(seconds)}
            )

    async def _show_login(self, request: web.Request) -> web.Response:
        return self._login_page(request, None)

    def _login_page(
        self, request: web.Request, problem: str | None, status: int = 200, refusal: OidcRefusal | None = None
    ) -> web.Response:
        return self._templates.render(
            request,
            "login.html",
            status,
            needs_token=bool(self._settings.tokens),
            by_issuer=self._oidc is not None,
            problem=problem,
            refusal=refusal,
        )

    async def _log_in(self, request: web.Request) -> web.StreamResponse:
        form = await _read_form(request)
        name, token = (form.get(each, "") for each in ("name", "token"))
        role = self._role_of_token(token if isinstance(token, str) else "")
        if role is None:
            log.warning("desk_login_refused", address=self._address(request), reason="wrong token")
            await asyncio.sleep(_WRONG_TOKEN_SECONDS)
            return self._login_page(request, "Wrong token.", 403)
        reviewer = reviewer_name(name if isinstance(name, str) else "")
        if reviewer is None:
            return self._login_page(request, "Enter a name of at most 256 characters.", 400)
        response = web.Response(status=303, headers={"Location": "/"})
        self.set_cookie(request, response, COOKIE, self._start(request, reviewer, role)[1])
        return response

    def _role_of_token(self, given: str) -> DeskRole | None:
        tokens = self._settings.tokens
        if not tokens:
            return DeskRole.LEAD  # one person on the loopback address
        same = [is_same(each.get_secret_value(), given) for each in tokens.values()]
        return next((role for role, is_same in zip(tokens, same, strict=True) if is_same), None)

    async def _ask_issuer(self, request: web.Request) -> web.StreamResponse:
        assert self._oidc  # the route exists with it alone
        try:
            address, attempt = await self._oidc.begin()
        except OidcRefusal as refusal:
            return self._refused(request, refusal)
        response = web.Response(status=303, headers={"Location": address})
        sealed = self._sessions.seal("login", attempt.state, attempt.nonce, attempt.code_verifier)
        # Lax: the browser comes back from another site. The session's own cookie stays strict.
        self.set_cookie(request, response, _LOGIN_COOKIE, sealed, _LOGIN_SECONDS, "Lax")
        return response

    async def _return_from_issuer(self, request: web.Request) -> web.StreamResponse:
        assert self._oidc  # the route exists with it alone
        cookie = self.cookie(request, _LOGIN_COOKIE)
        values = self._sessions.unseal("login", cookie, _LOGIN_SECONDS)
        if values is None:
            return self._refused(request, OidcRefusal("this login was not started here, or too long ago"))
        try:
            claims = await self._oidc.finish(LoginAttempt(*values), request.query)
        except OidcRefusal as refusal:
            return self._refused(request, refusal)
        oidc = self._settings.oidc
        name = reviewer_name(next(iter(claim_values(claims, oidc.name_claim)), ""))
        role = self._role(claim_values(claims, oidc.role_claim)) if oidc.role_claim else DeskRole.REVIEWER
        if name is None:
            return self._refused(request, OidcRefusal("the issuer names no reviewer", oidc.name_claim))
        if role is None:
            return self._refused(request, OidcRefusal("you have no role at this desk"))
        tenant = next(iter(claim_values(claims, oidc.tenant_claim)), "") if oidc.tenant_claim else ""
        if oidc.tenant_claim and not tenant:
            return self._refused(request, OidcRefusal("you have no tenant at this desk"))
        # A redirect would still come from the issuer's site, and browsers would leave out a strict cookie.
        response = self._templates.render(request, "logged_in.html")
        self.set_cookie(request, response, COOKIE, self._start(request, name, role, tenant)[1])
        self._delete_cookie(request, response, _LOGIN_COOKIE)
        return response

    def _refused(self, request: web.Request, refusal: OidcRefusal) -> web.Response:
        log.warning("desk_login_refused", address=self._address(request), reason=str(refusal))
        response = self._login_page(request, None, 403, refusal)
        self._delete_cookie(request, response, _LOGIN_COOKIE)
        return response

    async def _log_out(self, request: web.Request) -> web.StreamResponse:
        await self.form(request)
        session = request[SESSION]
        self._sessions.end(session)
        log.info("desk_logged_out", reviewer=session.reviewer)
        await asyncio.to_thread(self._desk.leave, session)
        self._desk.changes.notify()
        if self._oidc:
            address = await self._oidc.logout_address()
            response = self._templates.render(request, "logged_out.html", issuer=address)
        else:
            response = web.Response(status=303, headers={"Location": "/login"})
        self._delete_cookie(request, response, COOKIE)
        return response

    def cookie(self, request: web.Request, name: str) -> str:
        """Return the value of a cookie that :meth:`set_cookie` has set, or an empty text."""
        # A client can send bytes that are no text.
        value = request.cookies.get(self._cookie_name(request, name), "")
        return value.encode("utf-8", "replace").decode()

    def set_cookie(
        self,
        request: web.Request,
        response: web.StreamResponse,
        name: str,
        value: str,
        seconds: int = SESSION_SECONDS,
        same_site: str = "Strict",
    ) -> None:
        """Set a cookie that no script reads; over TLS, one that no other host of the domain can set."""
        response.set_cookie(
            self._cookie_name(request, name),
            value,
            max_age=seconds,
            httponly=True,
            samesite=same_site,
            secure=self._is_secure(request),
        )

    def _delete_cookie(self, request: web.Request, response: web.StreamResponse, name: str) -> None:
        response.del_cookie(self._cookie_name(request, name), secure=self._is_secure(request), httponly=True)

    def _cookie_name(self, request: web.Request, name: str) -> str:
        return f"__Host-{name}" if self._is_secure(request) else name

    def _is_secure(self, request: web.Request) -> bool:
        if self._settings.public_url:
            return self._settings.public_url.startswith("https:")
        return request.secure or request.headers.get("X-Forwarded-Proto") == "https"


async def _read_form(request: web.Request) -> Any:
    """Return the fields of a form; one that no browser sends is refused."""
    try:
        return await request.post()
    except (ValueError, LookupError) as error:  # no text, cut off, or in an unknown encoding
        raise web.HTTPBadRequest(text="This form cannot be read.") from error


def _header(request: web.Request, name: str) -> str:
    """Return a header of the proxy; one that comes twice may be the client's own, and counts as none."""
    values = request.headers.getall(name, [])
    return values[0] if len(values) == 1 else ""
