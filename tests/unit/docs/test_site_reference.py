"""The pages that are made from the code say what the code says."""

import pytest

from docs.generate.reference.commands_page import leaves
from docs.generate.reference.reference_files import reference_texts
from docs.generate.site.site_pages import ROOT
from scoring.values.rules import Reason
from streams.cli.command_output import ExitCode
from tests.support.site import text_of

MADE = reference_texts()


@pytest.mark.parametrize("page", MADE, ids=lambda page: page.name)
def test_a_page_is_not_stale(page):
    assert page.read_text("utf-8") == MADE[page], "run `python -m docs.generate`"


def test_every_command_and_every_exit_code_is_there():
    page = text_of("docs/commands.md")
    assert {"truthgate worker", "truthgate topics create"} <= leaves().keys()
    assert [name for name in leaves() if f"## `{name}`\n" not in page] == []
    assert [code for code in ExitCode if f"| `{code.value}` |" not in page] == []


def test_the_help_of_each_command_has_an_example():
    assert [name for name, each in leaves().items() if name not in each.help.partition("Example: ")[2]] == []


def test_options_stand_there_with_what_they_take():
    page = text_of("docs/commands.md")
    assert "| `--language` | `nl`, `en` | `nl` |" in page
    assert "| `--decision` | `auto_send` or `review` or `blocked` |" in page
    assert "| `--port` | `N`, from 0 to 65535 |" in page


def test_every_reason_is_explained_and_the_guide_names_known_ones_alone():
    page = text_of("docs/reasons.md")
    assert [reason for reason in Reason if f"| `{reason}` | {reason.description} |" not in page] == []
    told = text_of("docs/why-review.md")
    rows = [line for line in told.splitlines() if line.startswith("    | `")]
    named = {code for row in rows for code in row.split("|")[1].replace("`", "").replace(" ", "").split(",")}
    assert len(named) > 10
    assert [code for code in named if f"| `{code}` |" not in page] == []


def test_the_readme_stays_one_page():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 130
