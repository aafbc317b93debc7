"""What the pages show to be typed can be typed, and does what they say."""

import json
import os
import re
import shlex
from contextlib import redirect_stdout
from io import StringIO

import pytest

from docs.generate.reference.commands_page import leaves
from docs.generate.site.site_pages import DOCS, ROOT
from streams.settings import load_settings
from streams.settings.setting_catalog import all_settings
from tests.support.commands import clean_environment, truthgate_here
from tests.support.site import blocks, text_of

GUIDES = ("README.md", *(f"docs/{page.name}" for page in sorted(DOCS.glob("*.md"))))
TOML = blocks("toml", *GUIDES)
#: Commands of other programs' may stand before, and what is done with the output behind; quotes hide it.
_COMMAND = re.compile(r"(?:^|\s)(truthgate (?:'[^']*'|[^|>#'])*)")


def _commands() -> list[tuple[str, str]]:
    found = []
    for page, _, text in blocks("sh", *GUIDES):
        for line in text.replace("\\\n", " ").splitlines():
            if not line.lstrip().startswith(("#", "docker", "kubectl", "helm", "export")):
                found += [(page, each) for each in _COMMAND.findall(line.split(" #")[0])]
    for page in GUIDES:
        found += [(page, each) for each in re.findall(r"`(truthgate [a-z-]+[^`>]* -[^`>]*)`", text_of(page))]
    return found


def test_there_is_something_to_try():
    assert len(_commands()) > 40
    assert len(TOML) >= 6


@pytest.mark.parametrize(("page", "line"), _commands())
def test_a_command_is_one_with_its_options(page, line):
    words = shlex.split(line)
    known = leaves()
    (name,) = {each for each in (" ".join(words[:2]), " ".join(words[:3])) if each in known}
    options = {option for parameter in known[name].params for option in parameter.opts}
    named = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert named <= options, f"{page}: {line}"


@pytest.mark.parametrize("block", TOML, ids=[block.page for block in TOML])
def test_settings_that_are_shown_can_be_loaded(block, tmp_path, monkeypatch):
    for name in os.environ.keys() - clean_environment().keys():
        monkeypatch.delenv(name)
    secret = tmp_path / "secret"
    secret.write_text("s3cret-of-16-and-more", "utf-8")
    file = tmp_path / "truthgate.toml"
    text = re.sub(r"/run/secrets/[\w-]+", str(secret), block.text)
    file.write_text(re.sub(r'"/etc/truthgate/[\w.-]+"', f'"{secret}"', text), "utf-8")
    load_settings(file)


def test_variables_that_are_shown_are_settings():
    known = {setting.name for setting in all_settings()}
    for page in GUIDES:
        for name in re.findall(r"TRUTHGATE_((?:[A-Z]+_)+_[A-Z_]+[A-Z])", text_of(page)):
            setting = name.lower().replace("__", ".").removesuffix("_file")
            dynamic = setting.startswith("judges.endpoints.")
            assert dynamic or setting in known, f"{page}: {name}"


def test_settings_that_are_named_are_there():
    known = {setting.name for setting in all_settings()}
    sections = {name.partition(".")[0] for name in known}
    every = {name[: end.start()] for name in known for end in re.finditer(r"\.|$|\[", name)}
    astray = [
        (page, name)
        for page in GUIDES
        for name in re.findall(r"`([a-z_]+\.[a-z_.]+)`", text_of(page))
        if name.partition(".")[0] in sections and name not in every
    ]
    others = {"documents.jsonl", "answers.dead-letters", "verdicts.auto-send", "verdicts.review"}
    assert [one for one in astray if one[1] not in others] == []


def test_what_make_is_asked_for_it_can_make():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for page in GUIDES:
        for name in re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)`", text_of(page), re.MULTILINE):
            assert re.search(rf"^{''.join(name)}:", makefile, re.MULTILINE), f"{page}: make {''.join(name)}"


def test_the_python_of_the_readme_runs():
    (block,) = blocks("python", "README.md")
    with redirect_stdout(StringIO()) as printed:
        exec(compile(block.text, "README.md", "exec"), {})
    assert re.fullmatch(r"(auto_send|review|blocked) \(.+\) [\d.]+\n", printed.getvalue())


def test_the_file_of_the_tutorial_is_judged_as_it_says(tmp_path):
    (page,) = blocks("markdown", "docs/tutorial.md")
    (answers,) = blocks("json", "docs/tutorial.md")
    told = blocks("text", "docs/tutorial.md")[1].text
    (tmp_path / "help").mkdir()
    (tmp_path / "help" / "invoices.md").write_text(page.text, "utf-8")
    (tmp_path / "answers.jsonl").write_text(answers.text, "utf-8")
    done = truthgate_here("score", tmp_path / "answers.jsonl", "--documents", tmp_path / "help")
    assert done.returncode == 0, done.stderr
    verdicts = map(json.loads, done.stdout.splitlines())
    said = [f"{one['answer_id']} {one['decision']} {' '.join(one['reasons'])}\n" for one in verdicts]
    assert "".join(said) == told
    (version,) = {each["version"] for each in json.loads(done.stdout.splitlines()[0])["context"]}
    assert f"  {version}  " in blocks("text", "docs/tutorial.md")[2].text
