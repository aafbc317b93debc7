"""The page of profiles, features and reasons, from the profiles and codes themselves."""

import json
from collections.abc import Iterator, Mapping, Sequence
from inspect import getdoc
from typing import Final

from docs.generate.reference.markdown_table import table
from docs.generate.site.site_pages import ROOT
from scoring.scorer.profile import Profile, profiles
from scoring.values.rules import Reason, Rule, RuleEffect

_BEGINNING: Final = """\
# Profiles, features and reasons

This page is made from the code (`python -m docs.generate`); a test compares them.
[How an answer is scored](../scoring/README.md) explains the whole, and
[why an answer went to review](why-review.md) what to do about it.

## Reasons

The codes in `reasons` of a verdict; the first one decided. Reasons from a feature:
"""

_RIGHT: Final = """\
How often each was right, on rated answers of these products of [training/rated](../training/rated/README.md):
the untrue answers in which it found something, the true ones, and those rated 3, whatever was decided in the
end. The rules were made on the products gimp, debian-installation, kmail and skrooge, and checked on
korganizer and kate.
`python -m training.rated.checks PRODUCT ...` counts again.
"""

_OTHERS: Final = """\
Other reasons:
"""

_FEATURES: Final = """\
A feature is a number from 0 to 1, or nothing where it does not apply. The verdict has each in `features`,
with the words of the answer that it is about.
"""

_BECOMES: Final = {
    RuleEffect.BLOCK: "blocked",
    RuleEffect.REVIEW: "a person decides",
    RuleEffect.SEND: "sent",
}


def render() -> str:
    """Return the page, in Markdown."""
    known = profiles()
    found = {rule.reason: rule for profile in known for rule in profile.rules.values() if rule}
    counts = json.loads((ROOT / "training" / "rated" / "checks.json").read_text("utf-8"))
    return "\n".join(
        [
            _BEGINNING,
            *table(("reason", "what becomes of the answer", "meaning"), map(_rule, found.values())),
            _RIGHT,
            *table(("untrue : true : rated 3", *counts), _right(found, counts)),
            _OTHERS,
            *table(("reason", "meaning"), ((f"`{each.value}`", each.description) for each in Reason)),
            *(line for profile in known for line in _profile(profile)),
        ]
    )


def _rule(rule: Rule) -> tuple[str, str, str]:
    return f"`{rule.reason}`", _BECOMES[rule.effect], rule.description


def _right(
    reasons: Mapping[str, Rule], counts: Mapping[str, Mapping[str, Sequence[int]]]
) -> Iterator[list[str]]:
    for name in ("answers", *reasons):
        found = [rows.get(name) for rows in counts.values()]
        yield [
            f"`{name}`" if name in reasons else name,
            *(" : ".join(map(str, each or "-")) for each in found),
        ]


def _profile(profile: Profile) -> Iterator[str]:
    yield f"## Profile `{profile.name}`\n"
    yield _FEATURES
    rows = ((f"`{each.name}`", (getdoc(type(each)) or "").partition("\n")[0]) for each in profile.features)
    yield from table(("feature", "meaning"), rows)
