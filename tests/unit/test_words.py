"""Words that stood for something that the field has another name for do not come back."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
#: What is said instead of each: one word for one thing, in code, messages and guides alike.
INSTEAD = {
    r"assess(?!ment\* \(a study)": "score",
    r"\b[Ss]ieve": "filter",
    r"\bLanes?\b": "keyed executor",
    r"\b[Bb]ur(?:y|ied|ies)\b": "dead-letter",
    r"\bput_together\b|\bWay\b": "pipeline",
    r"\bstartable\b|\bsurroundings\b": "preflight",
    r"without_effect\b": "unused setting",
    r"\btakeover\b": "leader",
    r"\bmishap": "error, fault or failure",
    r"\bsign for sign\b": "character for character",
    r"\bstateless-to-you\b": "local state is rebuilt from Kafka",
    r"\b(?:speaks|stands) against\b": "contradicts",
    r"\btruthgate holds?\b|\bsending_held\b|\bholds_unknown\b|\bpolicy\.hold\b": "pause",
    r"\b[Pp]atience\b": "timeout",
}
#: Of the judges' prompts every word was measured; the pipelines' licence is others' text.
_OTHERS = ("scoring/judges/prompts/", "scoring/text/pipelines/", "streams/sample/", "scoring/lexicon/")


def texts() -> Iterator[Path]:
    """Yield the product's modules, guides and templates."""
    for folder in ("streams", "scoring", "schemas", "docs", "helm"):
        for ending in ("*.py", "*.md", "*.js", "*.html", "*.yaml", "*.toml", "*.avsc"):
            yield from (ROOT / folder).rglob(ending)
    yield from ROOT.glob("*.md")


@pytest.mark.parametrize("word", INSTEAD)
def test_a_word_that_the_field_does_not_use_is_in_no_text(word):
    pattern = re.compile(word)
    files = [path for path in texts() if not str(path.relative_to(ROOT)).startswith(_OTHERS)]
    assert len(files) > 300
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if pattern.search(line)
    ]
    assert found == [], f"say: {INSTEAD[word]}"
