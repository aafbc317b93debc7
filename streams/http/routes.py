"""The addresses of judging over HTTP."""

from __future__ import annotations

from typing import Final

PREFIX: Final = "/v1/"
VERDICTS: Final = f"{PREFIX}verdicts"
OPENAPI: Final = f"{PREFIX}openapi.json"
