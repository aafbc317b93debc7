"""Every failure of a provider is a fault within its timeout, without a text or key in it."""

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
from scoring.translation.engines import PROVIDER_SPECS, BoundedHttpClient, Engine, ProviderOptions
from scoring.translation.errors import TranslationFailed, TranslationFault, TranslatorMisconfigured
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
    provider = Provider(ProviderOptions("libretranslate", server.url, timeout_seconds=10))
    yield provider
    provider.close()


def fault(provider: Provider, source: str = "nl") -> TranslationFault:
    """Return the fault, after checking that the failure contains neither the text nor a key."""
    with pytest.raises(TranslationFailed) as raised:
        provider.translate(f"Goedemorgen {SECRET}", source)
    error: BaseException | None = raised.value
    report = "".join(traceback.format_exception(raised.value))
    while error:
        report += repr(error) + str(vars(error))
        assert error.__context__ is None
        error = error.__cause__
    assert SECRET not in report
    assert KEY not in report
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
    assert [(request.path, request.query, request.source) for request in server.asked] == [
        ("/translate", "", "nl")
    ]


def test_a_key_is_sent_only_where_one_is_set(server: LibreTranslate, provider: Provider) -> None:
    server.api_key = KEY
    assert fault(provider) is TranslationFault.UNAUTHORIZED
    with closing(Provider(ProviderOptions("libretranslate", f"{server.url}/", api_key=KEY))) as keyed:
        assert keyed.translate(f"Goedemorgen {SECRET}", "nl") == "Good morning"
    assert [request.key for request in server.asked] == [None, KEY]
    assert KEY not in repr(ProviderOptions("libretranslate", server.url, api_key=KEY))


@pytest.mark.parametrize(
    ("expected", "statuses"),
    [
        (TranslationFault.REFUSED, (400, 413)),
        (TranslationFault.UNAUTHORIZED, (401, 403)),
        (TranslationFault.RATE_LIMITED, (429,)),
        (TranslationFault.SERVER_ERROR, (301, 404, 500, 503)),
    ],
)
def test_a_status_has_its_fault(
    server: LibreTranslate, provider: Provider, statuses: tuple[int, ...], expected: TranslationFault
) -> None:
    for status in statuses:
        server.behave(status=status)
        assert fault(provider) is expected


def test_an_invalid_response_is_a_fault(server: LibreTranslate, provider: Provider) -> None:
    for body in (
        *(b"", b"<html>hello</html>", b"[]", b"{}", b"null", b'"text"', b'{"translatedText": 7}'),
        *(b'{"translatedText": ["a"]}', b'{"other": "x"}', b"\xff\xfe", b"[" * 100_000),
    ):
        server.behave(body=body)
        assert fault(provider) in {TranslationFault.SERVER_ERROR, TranslationFault.EMPTY}


def test_a_response_is_bounded(server: LibreTranslate, provider: Provider) -> None:
    server.behave(body=json.dumps({"translatedText": "x" * 5_000_000}).encode())
    assert fault(provider) is TranslationFault.SERVER_ERROR


@pytest.mark.parametrize("behaviour", [{"delay": 30.0}, {"drip": 1.0}])
def test_a_slow_response_ends_at_the_timeout(server: LibreTranslate, behaviour: dict) -> None:
    server.behave(**behaviour)
    with closing(Provider(ProviderOptions("libretranslate", server.url, timeout_seconds=0.3))) as provider:
        began = time.monotonic()
        assert fault(provider) is TranslationFault.TIMEOUT
        assert time.monotonic() - began < 15  # the response would take more than twenty


def test_a_broken_connection_is_a_fault(server: LibreTranslate, provider: Provider) -> None:
    server.behave(reset=True)
    assert fault(provider) is TranslationFault.UNREACHABLE
    server.behave()
    assert provider.translate(f"Goedemorgen {SECRET}", "nl") == "Good morning"
    server.stop()
    assert fault(provider) is TranslationFault.UNREACHABLE


def test_a_silent_server_ends_at_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with closing(Provider(ProviderOptions("libretranslate", url, timeout_seconds=0.2))) as provider:
            assert fault(provider) is TranslationFault.TIMEOUT


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (httpx2.ReadTimeout(""), TranslationFault.TIMEOUT),
        (httpx2.ConnectTimeout(""), TranslationFault.TIMEOUT),
        (httpx2.ConnectError(""), TranslationFault.UNREACHABLE),
        (httpx2.RemoteProtocolError(""), TranslationFault.UNREACHABLE),
    ],
)
def test_a_timeout_differs_from_other_network_errors(error: Exception, expected: TranslationFault) -> None:
    assert providers._fault_from_error(error) is expected


def test_a_language_that_the_server_lacks_is_refused(provider: Provider) -> None:
    assert fault(provider, "tlh") is TranslationFault.REFUSED


def test_providers_have_their_own_timeouts(server: LibreTranslate) -> None:
    server.behave(delay=0.5)
    found: list[str] = []
    with (
        closing(Provider(ProviderOptions("libretranslate", server.url, timeout_seconds=30))) as slow,
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
    assert any(SECRET in request.query for request in server.asked) is (name == "google")
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
def test_missing_and_superfluous_options_are_refused(options: ProviderOptions, part: str) -> None:
    with pytest.raises(TranslatorMisconfigured, match=part) as raised:
        Provider(options)
    assert KEY not in str(raised.value)


def test_deepl_is_sent_the_text_in_the_body_and_the_key_in_a_header(server: LibreTranslate) -> None:
    server.behave(body=b'{"translations": [{"text": "Good morning"}]}')
    with closing(Provider(ProviderOptions("deepl", server.url, KEY))) as provider:
        assert provider.translate(SECRET, "nl") == "Good morning"
        with pytest.raises(TranslationFailed, match="unsupported_language"):
            provider.translate(SECRET, "tlh")
    assert (server.asked[0].path, server.asked[0].query, server.asked[0].key) == (
        "/v2/translate",
        "",
        None,
    )
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
    ("translated", "matches", "expected"),
    [
        ("MYMEMORY WARNING: YOU USED ALL", [], TranslationFault.RATE_LIMITED),
        ("", [], TranslationFault.SERVER_ERROR),
        (None, [{"translation": "Good morning"}], None),
    ],
)
def test_mymemory_may_return_a_match_or_a_warning(
    server: LibreTranslate,
    monkeypatch: pytest.MonkeyPatch,
    translated: str | None,
    matches: list[object],
    expected: TranslationFault | None,
) -> None:
    _have_here("mymemory", server, monkeypatch)
    body = {"responseData": {"translatedText": translated}, "matches": matches}
    server.behave(body=json.dumps(body).encode())
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
    request: list[str] = []

    class Http(BoundedHttpClient):
        def get(self, url: str, params: Mapping[str, str]) -> bytes:
            request.append(url)
            return b'{"responseData": {"translatedText": "Good morning"}}'

    engine = PROVIDER_SPECS["mymemory"].engine(ProviderOptions("mymemory"), "nl-NL", Http(1, 1))
    assert engine.translate("Goedemorgen") == "Good morning"
    assert request == ["https://api.mymemory.translated.net/get"]
