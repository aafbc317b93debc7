"""What the guides show works as they show it."""

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from scoring.policy import Policy
from streams.settings.setting_catalog import all_settings
from streams.web.verdict_requests import PROBLEM_TYPES
from tests.support.http_service import Waiting, service, settings_of, way_of
from tests.support.scorers import Scoring

DOCS = Path(__file__).parents[2] / "docs"
_BLOCKS = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    """Give language and text of each block of code."""
    return [(found[1], found[2]) for found in _BLOCKS.finditer((DOCS / page).read_text("utf-8"))]


def test_the_examples_in_python_print_what_stands_below_them():
    told, names = blocks("python.md"), {"__name__": "guide"}
    assert len(told) >= 12
    for (language, code), (below, expected) in zip(told[::2], told[1::2], strict=True):
        assert (language, below) == ("python", "text")
        with redirect_stdout(StringIO()) as printed:
            exec(compile(code, "python.md", "exec"), names)
        assert printed.getvalue() == expected


def _asked() -> dict[str, Any]:
    """Give the body that the page posts."""
    (command,) = (text for language, text in blocks("http.md") if text.startswith("curl"))
    body: dict[str, Any] = json.loads(command.partition("--data '")[2].rpartition("'")[0])
    return body


async def test_the_reply_over_http_is_the_one_that_is_shown():
    (shown,) = (json.loads(text) for language, text in blocks("http.md") if language == "json")
    async with service(way_of(settings_of(), Scoring())) as running:
        status, _, verdict = await running.post(json.dumps(_asked()).encode())
    assert status == 200
    assert {name: verdict[name] for name in shown} == shown


async def test_the_client_sends_only_what_may_be_sent(monkeypatch):
    (code,) = (text for language, text in blocks("http.md") if language == "python")
    names: dict[str, Any] = {}
    exec(compile(code, "http.md", "exec"), names)
    may_be_sent: Callable[[Any], bool] = names["may_be_sent"]
    token = "token-of-the-tests"
    settings = settings_of(token=token).model_copy(update={"policy": Policy(auto_send_at=4.0)})
    assessor = Waiting()
    assessor.may.set()
    async with service(way_of(settings, assessor), settings) as running:
        monkeypatch.setenv("TRUTHGATE_URL", f"http://127.0.0.1:{running.port}/v1/verdicts")
        assert await asyncio.to_thread(may_be_sent, _asked()) is False, "without its token"
        monkeypatch.setenv("TRUTHGATE_TOKEN", token)
        assert await asyncio.to_thread(may_be_sent, _asked()) is True
        assert await asyncio.to_thread(may_be_sent, {**_asked(), "question": 5}) is False
        assert await asyncio.to_thread(may_be_sent, {**_asked(), "context": []}) is False
    assert await asyncio.to_thread(may_be_sent, _asked()) is False, "nobody is there"


def test_every_problem_stands_in_the_guide():
    told = re.findall(
        r"^\| (\d+) \| `(\w+)` \| (.+) \|$", (DOCS / "http.md").read_text("utf-8"), re.MULTILINE
    )
    assert told == [(str(kind.status), kind.code, kind.title) for kind in PROBLEM_TYPES]


def test_settings_and_pages_that_the_guides_name_are_there():
    text = "\n".join((DOCS / page).read_text("utf-8") for page in ("http.md", "python.md"))
    named = set(re.findall(r"`((?:web|policy|documents)\.[\w.]+)`", text))
    assert "web.verdicts.timeout_seconds" in named
    assert named <= {setting.name for setting in all_settings()}
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (DOCS / target).exists(), target
