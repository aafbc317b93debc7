"""The tests of settings see none of whoever runs them."""

import os

import pytest


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.upper().startswith("TRUTHGATE_")]:
        monkeypatch.delenv(name)
