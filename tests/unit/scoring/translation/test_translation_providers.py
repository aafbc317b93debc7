"""Every failure of a translator is a code within the time limit, and no text or key gets out with it."""

import json
import logging
import socket
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace

import httpx2
import pytest

from scoring.translation import calls as providers
from scoring.translation.calls import Provider
from scoring.translation.engines import PROVIDER_SPECS, Engine, ProviderOptions
from scoring.translation.errors import TranslationFailed, TranslationFault, TranslatorMisconfigured
from scoring.translation.http import BoundedHttpClient
from tests.support.libretranslate import LibreTranslate
from tests.support.parallel_texts import ParallelTexts

SECRET = "Zwaluwstaart"
KEY = "key-4711"


@pytest.fixture
def server() -> Iterator[LibreTranslate]:
    texts = ParallelTexts()
    texts.add(f"Goedemorgen {SECRET}", "Good morning")
    with LibreTranslate(texts) as server:
        yield server


@pytest.fixture
def provider(server: LibreTranslate) -> Iterator[Provider]:
    provider = Provider(ProviderOptions("libretranslate", server.url, timeout_seconds=0.3))
    yield provider
    provider.close()


def fault(provider: Provider, source: str = "nl") -> TranslationFault:
    """Give the fault, having seen that the failure holds neither the text nor a key."""
    with pytest.raises(TranslationFailed) as raised:
        provider.translate(f"Goedemorgen {SECRET}", source)
    error: BaseException | None = raised.value
    told = "".join(traceback.format_exception(raised.value))
    while error:
        told += repr(error) + str(vars(error))
        assert error.__context__ is None
        error = error.__cause__
    assert SECRET not in told
    assert KEY not in told
    return raised.value.fault


def fault_or_none(provider: Provider) -> TranslationFault | None:
    try:
        provider.translate(f"Goedemorgen {SECRET}", "nl")
    except TranslationFailed as failure:
        return failure.fault
    return None


def _have_here(name: str, server: LibreTranslate, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the provider's requests go to the server, whose answers the test gives."""
    if name != "libretranslate":
        kind = PROVIDER_SPECS[name]

        def here(options: ProviderOptions, code: str, http: BoundedHttpClient) -> Engine:
            engine = kind.engine(options, code, http)
            monkeypatch.setattr(engine, "_base_url", f"{server.url}/{name}")
            return engine

        monkeypatch.setitem(providers.PROVIDER_SPECS, name, replace(kind, engine=here))


def test_a_text_is_translated_and_is_not_in_the_address(server: LibreTranslate, provider: Provider) -> None:
    assert provider.translate(f"Goedemorgen {SECRET}", "nl") == "Good morning"
    assert [(asked.path, asked.query, asked.source) for asked in server.asked] == [("/translate", "", "nl")]


def test_a_key_is_sent_only_where_one_is_set(server: LibreTranslate, provider: Provider) -> None:
    server.api_key = KEY
    assert fault(provider) is TranslationFault.UNAUTHORIZED
    with closing(Provider(ProviderOptions("libretranslate", f"{server.url}/", api_key=KEY))) as keyed:
        assert keyed.translate(f"Goedemorgen {SECRET}", "nl") == "Good morning"
    assert [asked.key for asked in server.asked] == [None, KEY]
    assert KEY not in repr(ProviderOptions("libretranslate", server.url, api_key=KEY))


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, TranslationFault.REFUSED),
        (401, TranslationFault.UNAUTHORIZED),
        (403, TranslationFault.UNAUTHORIZED),
        (404, TranslationFault.SERVER_ERROR),
        (413, TranslationFault.REFUSED),
        (429, TranslationFault.RATE_LIMITED),
        (301, TranslationFault.SERVER_ERROR),
        (500, TranslationFault.SERVER_ERROR),
        (503, TranslationFault.SERVER_ERROR),
    ],
)
def test_a_status_is_told_by_its_code(
    server: LibreTranslate, provider: Provider, status: int, expected: TranslationFault
) -> None:
    server.behave(status=status)
    assert fault(provider) is expected


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>hello</html>",
        b"[]",
        b"{}",
        b"null",
        b'"text"',
        b'{"translatedText": 7}',
        b'{"translatedText": ["a"]}',
        b'{"other": "x"}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_an_answer_of_another_shape_is_a_failure(
    server: LibreTranslate, provider: Provider, body: bytes
) -> None:
    server.behave(body=body)
    assert fault(provider) in {TranslationFault.SERVER_ERROR, TranslationFault.EMPTY}


def test_an_answer_of_any_size_does_not_fill_the_memory(server: LibreTranslate, provider: Provider) -> None:
    server.behave(body=json.dumps({"translatedText": "x" * 5_000_000}).encode())
    assert fault(provider) is TranslationFault.SERVER_ERROR


@pytest.mark.parametrize("behaviour", [{"delay": 5.0}, {"drip": 0.05}])
def test_a_slow_answer_ends_at_the_time_limit(
    server: LibreTranslate, provider: Provider, behaviour: dict
) -> None:
    server.behave(**behaviour)
    began = time.monotonic()
    assert fault(provider) is TranslationFault.TIMEOUT
    assert time.monotonic() - began < 4  # the answer would take five


def test_a_connection_that_breaks_is_told(server: LibreTranslate, provider: Provider) -> None:
    server.behave(reset=True)
    assert fault(provider) is TranslationFault.UNREACHABLE
    server.behave()
    assert provider.translate(f"Goedemorgen {SECRET}", "nl") == "Good morning"


def test_nobody_there_is_told(server: LibreTranslate, provider: Provider) -> None:
    server.stop()
    assert fault(provider) is TranslationFault.UNREACHABLE


def test_a_server_that_accepts_and_says_nothing_is_left_at_the_time_limit() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        provider = Provider(
            ProviderOptions(
                "libretranslate", f"http://127.0.0.1:{silent.getsockname()[1]}", timeout_seconds=0.2
            )
        )
        assert fault(provider) is TranslationFault.TIMEOUT
        provider.close()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx2.ReadTimeout(""), TranslationFault.TIMEOUT),
        (httpx2.ConnectTimeout(""), TranslationFault.TIMEOUT),
        (httpx2.ConnectError(""), TranslationFault.UNREACHABLE),
        (httpx2.RemoteProtocolError(""), TranslationFault.UNREACHABLE),
    ],
)
def test_a_timeout_is_told_apart_from_other_failures_of_the_network(
    error: Exception, expected: TranslationFault
) -> None:
    assert providers._fault_from_error(error) is expected


def test_a_language_that_the_server_lacks_is_told(provider: Provider) -> None:
    assert fault(provider, "tlh") is TranslationFault.REFUSED


def test_threads_do_not_get_in_each_others_way(server: LibreTranslate) -> None:
    server.behave(delay=0.3)
    found: list[str] = []
    with (
        closing(Provider(ProviderOptions("libretranslate", server.url, timeout_seconds=5))) as slow,
        closing(Provider(ProviderOptions("libretranslate", server.url, timeout_seconds=0.1))) as quick,
    ):
        thread = threading.Thread(target=lambda: found.append(slow.translate(f"Goedemorgen {SECRET}", "nl")))
        thread.start()
        assert fault(quick) is TranslationFault.TIMEOUT
        thread.join()
    assert found == ["Good morning"]


@pytest.mark.parametrize("name", ["libretranslate", "google"])
def test_no_library_logs_a_text(
    server: LibreTranslate, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    _have_here(name, server, monkeypatch)
    url = server.url if name == "libretranslate" else None
    with closing(Provider(ProviderOptions(name, url))) as provider, caplog.at_level(logging.DEBUG):
        for behaviour in ({}, {"status": 500}, {"reset": True}, {"body": b"x"}):
            server.behave(**behaviour)
            fault_or_none(provider)
    assert any(SECRET in asked.query for asked in server.asked) is (name == "google")
    assert SECRET not in caplog.text


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (ProviderOptions("libretranslate"), "provider libretranslate needs base_url"),
        (ProviderOptions("deepl"), "provider deepl needs api_key"),
        (ProviderOptions("google", base_url="http://x"), "provider google takes no base_url"),
        (ProviderOptions("mymemory", api_key=KEY), "provider mymemory takes no api_key"),
    ],
)
def test_what_a_provider_needs_is_told_before_anything_is_sent(options: ProviderOptions, part: str) -> None:
    with pytest.raises(TranslatorMisconfigured, match=part) as raised:
        Provider(options)
    assert KEY not in str(raised.value)


def test_deepl_is_sent_the_text_in_the_body_and_the_key_in_a_header(server: LibreTranslate) -> None:
    server.behave(body=b'{"translations": [{"text": "Good morning"}]}')
    with closing(Provider(ProviderOptions("deepl", server.url, KEY))) as provider:
        assert provider.translate(SECRET, "nl") == "Good morning"
        with pytest.raises(TranslationFailed, match="unsupported_language"):
            provider.translate(SECRET, "tlh")
    assert (server.asked[0].path, server.asked[0].query, server.asked[0].key) == ("/v2/translate", "", None)
    assert server.asked[0].headers["Authorization"] == f"DeepL-Auth-Key {KEY}"


def test_google_and_mymemory_are_read_as_they_answer(
    server: LibreTranslate, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {
        "google": b'<div class="result-container">Good morning</div>',
        "mymemory": b'{"responseData": {"translatedText": "Good morning"}}',
    }
    for name, page in pages.items():
        _have_here(name, server, monkeypatch)
        with closing(Provider(ProviderOptions(name))) as provider:
            server.behave(body=page)
            assert provider.translate(SECRET, "nl") == "Good morning"
            server.behave(body=b"<html>nothing</html>")
            assert fault(provider) in {TranslationFault.SERVER_ERROR, TranslationFault.EMPTY}
            server.behave(status=429)
            assert fault(provider) is TranslationFault.RATE_LIMITED


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            {"responseData": {"translatedText": "MYMEMORY WARNING: YOU USED ALL"}},
            TranslationFault.RATE_LIMITED,
        ),
        ({"responseData": {"translatedText": ""}, "matches": []}, TranslationFault.SERVER_ERROR),
        ({"responseData": {"translatedText": None}, "matches": [{"translation": "Good morning"}]}, None),
    ],
)
def test_mymemory_may_answer_with_a_match_and_says_in_words_that_it_has_had_enough(
    server: LibreTranslate, monkeypatch: pytest.MonkeyPatch, answer: object, expected: TranslationFault | None
) -> None:
    _have_here("mymemory", server, monkeypatch)
    server.behave(body=json.dumps(answer).encode())
    with closing(Provider(ProviderOptions("mymemory"))) as provider:
        assert fault_or_none(provider) is expected


@pytest.mark.parametrize(
    ("name", "language", "code"),
    [
        ("google", "nl", "nl"),
        ("google", "he", "iw"),
        ("google", "zh", "zh-CN"),
        ("google", "xx", None),
        ("deepl", "nl", "nl"),
        ("deepl", "af", None),
        ("mymemory", "nl", "nl-NL"),
        ("mymemory", "da", "da-DK"),
        ("mymemory", "xx", None),
        ("libretranslate", "nl", "nl"),
    ],
)
def test_a_language_has_the_code_of_each_provider(name: str, language: str, code: str | None) -> None:
    assert PROVIDER_SPECS[name].language_code(language) == code


def test_mymemory_is_asked_over_an_encrypted_connection() -> None:
    asked: list[str] = []

    class Http(BoundedHttpClient):
        def get(self, url: str, params: Mapping[str, str]) -> bytes:
            asked.append(url)
            return b'{"responseData": {"translatedText": "Good morning"}}'

    engine = PROVIDER_SPECS["mymemory"].engine(ProviderOptions("mymemory"), "nl-NL", Http(1, 1))
    assert engine.translate("Goedemorgen") == "Good morning"
    assert asked == ["https://api.mymemory.translated.net/get"]
