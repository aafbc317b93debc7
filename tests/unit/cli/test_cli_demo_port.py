"""The demo's page is where the settings or the command line say."""

from unittest.mock import patch

import pytest

from streams.cli.demo.demo_board import DemoBoard
from streams.cli.entry import run


@pytest.mark.parametrize(
    ("variable", "options", "expected"),
    [(None, (), 6066), ("16066", (), 16066), ("16066", ("--port", "16067"), 16067)],
)
def test_the_port_is_the_option_or_else_the_setting(monkeypatch, variable, options, expected):
    if variable:
        monkeypatch.setenv("TRUTHGATE_WEB__PORT", variable)
    with (
        patch("streams.cli.demo.demo_command.is_free", return_value=True),
        patch("streams.cli.demo.demo_command._demo", return_value=DemoBoard([], 0)) as begun,
    ):
        assert run(["demo", *options]) == 0
    assert begun.call_args.args[4] == expected
