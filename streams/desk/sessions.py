"""Sessions of reviewers: signed cookies, without anything stored but the key."""

import base64
import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from streams.desk.desk import ReviewerSession
from streams.settings import InvalidSettings

COOKIE: Final = "truthgate_desk"
SESSION_SECONDS: Final = 12 * 3_600
MAX_NAME_LENGTH: Final = 256
_KEY_BYTES: Final = 32


def session_key(folder: Path) -> bytes:
    """Return the key of a desk, which is created once; sessions outlive a restart. Raises InvalidSettings."""
    path = folder / "session.key"
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
    """Writes and reads cookies, and the tokens that forms carry.

    Args:
        key: what they are signed with.
        clock: seconds since 1970.
    """

    def __init__(self, key: bytes, clock: Callable[[], float] = time.time) -> None:
        self._key = key
        self._clock = clock

    def start(self, reviewer: str) -> tuple[ReviewerSession, str]:
        """Return a new session and its cookie."""
        session = ReviewerSession(secrets.token_urlsafe(18), reviewer)
        name = base64.urlsafe_b64encode(reviewer.encode()).decode().rstrip("=")
        value = f"{session.id}.{int(self._clock())}.{name}"
        return session, f"{value}.{self._sign('session', value)}"

    def read(self, cookie: str) -> ReviewerSession | None:
        """Return the session of a cookie, or None if it is not ours, or too old."""
        value, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(
            self._sign("session", value).encode(), signature.encode("utf-8", "surrogatepass")
        ):
            return None
        session_id, started, name = value.split(".")
        if not 0 <= self._clock() - int(started) < SESSION_SECONDS:
            return None
        return ReviewerSession(session_id, base64.urlsafe_b64decode(f"{name}===").decode())

    def form_token(self, session: ReviewerSession) -> str:
        """Return what every form of a session carries, so that no other site can submit one."""
        return self._sign("form", session.id)

    def is_form_token(self, session: ReviewerSession, token: str) -> bool:
        """Return whether a form is one of this session's."""
        return hmac.compare_digest(self.form_token(session).encode(), token.encode("utf-8", "surrogatepass"))

    def _sign(self, purpose: str, value: str) -> str:
        # A value that a client made up may have any character.
        signed = f"{purpose}:{value}".encode("utf-8", "surrogatepass")
        return hmac.new(self._key, signed, hashlib.sha256).hexdigest()
