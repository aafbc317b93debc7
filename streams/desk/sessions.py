"""Sessions of reviewers: signed cookies, without anything stored but the key."""

import base64
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from schemas.records import person_key
from streams.desk.steady_clock import steady_time
from streams.settings import DeskRole, DeskSettings, InvalidSettings

COOKIE: Final = "truthgate_desk"
SESSION_SECONDS: Final = 12 * 3_600
MAX_NAME_LENGTH: Final = 256
_KEY_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class ReviewerSession:
    """One browser of a reviewer: ``id`` is secret enough not to be guessed.

    With a ``tenant`` it has nothing to do with the answers of others.
    """

    id: str
    reviewer: str
    role: DeskRole = DeskRole.REVIEWER
    tenant: str = ""

    @property
    def person(self) -> str:
        """Who it is of, whatever way the name is written in."""
        return person_key(self.reviewer)


def stored_key(folder: Path, name: str) -> bytes:
    """Return a key of a desk, which is created once and outlives restarts. Raises InvalidSettings."""
    path = folder / f"{name}.key"
    try:
        if not path.exists() or path.stat().st_size != _KEY_BYTES:
            unfinished = path.with_suffix(".new")
            unfinished.unlink(missing_ok=True)
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            unfinished.replace(path)
        return path.read_bytes()
    except OSError as error:
        raise InvalidSettings(f"desk.store: cannot use {path}: {error.strerror}") from error


def reviewer_name(text: str) -> str | None:
    """Return a name as it is published, or None if it cannot be one."""
    name = " ".join(text.split())
    return name if 0 < len(name) <= MAX_NAME_LENGTH and name.isprintable() else None


class Sessions:
    """Writes and reads signed cookies, and the tokens that forms carry.

    Another way to log in, or other tokens, end all sessions.

    Args:
        key: what they are signed with.
        settings: how people log in.
        clock: seconds since 1970.
    """

    def __init__(self, key: bytes, settings: DeskSettings, clock: Callable[[], float] = steady_time) -> None:
        tokens = {role: token.get_secret_value() for role, token in settings.tokens.items()}
        oidc = settings.oidc
        ways = (sorted(tokens.items()), settings.user_header, oidc.issuer, oidc.client_id, oidc.name_claim)
        roles = (settings.role_header, oidc.role_claim, sorted(settings.roles.items()))
        tenants = (settings.tenant_header, oidc.tenant_claim, settings.tenant_key)
        login = repr((ways, roles, tenants))
        self._key = hmac.digest(key, login.encode(), "sha256")
        self._clock = clock
        self._ended: dict[str, float] = {}

    def start(
        self, reviewer: str, role: DeskRole, tenant: str = "", *, by_proxy: bool = False
    ) -> tuple[ReviewerSession, str]:
        """Return a new session and its cookie; ``by_proxy``, the one session of this person.

        Where a proxy names the person with each request, a browser without cookies would take an answer with
        each of them, and a link from elsewhere, which comes without them, what is on the screen.
        """
        person = self._sign("person", repr((person_key(reviewer), role.value, tenant)))
        session = ReviewerSession(person if by_proxy else secrets.token_urlsafe(18), reviewer, role, tenant)
        return session, self.seal("session", session.id, role, reviewer, tenant)

    def read(self, cookie: str) -> ReviewerSession | None:
        """Return the session of a cookie, or None if it is not ours, too old, or has ended."""
        values = self.unseal("session", cookie, SESSION_SECONDS)
        if values is None or values[0] in self._ended:
            return None
        session_id, role, reviewer, tenant = values
        return ReviewerSession(session_id, reviewer, DeskRole(role), tenant)

    def end(self, session: ReviewerSession) -> None:
        """Refuse the cookies of a session until this process ends; they get too old in the meantime."""
        now = self._clock()
        self._ended = {key: at for key, at in self._ended.items() if now - at < SESSION_SECONDS}
        self._ended[session.id] = now

    def is_over(self, session: ReviewerSession) -> bool:
        """Return whether a session was ended."""
        return session.id in self._ended

    def seal(self, purpose: str, *values: str) -> str:
        """Return a cookie of texts that only this desk can make, with the time."""
        encoded = (base64.urlsafe_b64encode(value.encode()).decode().rstrip("=") for value in values)
        value = ".".join((str(int(self._clock())), *encoded))
        return f"{value}.{self._sign(purpose, value)}"

    def unseal(self, purpose: str, cookie: str, max_seconds: float) -> list[str] | None:
        """Return the texts of a cookie of this purpose, or None if it is not ours, or too old."""
        value, _, signature = cookie.rpartition(".")
        if not is_same(self._sign(purpose, value), signature):
            return None
        made, *encoded = value.split(".")
        if not 0 <= self._clock() - int(made) < max_seconds:
            return None
        return [base64.urlsafe_b64decode(f"{each}===").decode() for each in encoded]

    def form_token(self, session: ReviewerSession) -> str:
        """Return what every form of a session carries, so that no other site can submit one."""
        return self._sign("form", session.id)

    def is_form_token(self, session: ReviewerSession, token: str) -> bool:
        """Return whether a form is one of this session's."""
        return is_same(self.form_token(session), token)

    def _sign(self, purpose: str, value: str) -> str:
        # A value that a client made up may have any character.
        signed = f"{purpose}:{value}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, signed, hashlib.sha256).hexdigest()


def is_same(expected: str, given: str) -> bool:
    """Return whether a client gave the secret, in a time that does not depend on what it gave."""
    return hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogatepass"))
