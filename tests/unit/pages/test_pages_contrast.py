"""What the page shows can be read and told apart, in light and dark (WCAG 2.2, 1.4.3 and 1.4.11)."""

import re
from importlib.resources import files

import pytest

TEXT, GRAPHIC = 4.5, 3.0
PAIRS = [
    ("ink", "ground", TEXT),
    ("ink", "surface", TEXT),
    ("soft", "ground", TEXT),
    ("soft", "surface", TEXT),
    ("focus", "ground", TEXT),
    ("ink", "notice-ground", TEXT),
    ("soft", "notice-ground", TEXT),
    ("ink", "alarm-ground", TEXT),
    ("soft", "alarm-ground", TEXT),
    ("alarm", "surface", TEXT),
    ("surface", "rate", TEXT),
    ("fault-ink", "fault-ground", TEXT),
    ("seen-ink", "seen-ground", TEXT),
    ("good", "surface", TEXT),
    ("ink", "seen-ground", TEXT),
    ("soft", "seen-ground", TEXT),
    ("alarm", "seen-ground", TEXT),
    ("focus", "seen-ground", GRAPHIC),
    ("rate", "surface", GRAPHIC),
    ("sent", "surface", GRAPHIC),
    ("review", "surface", GRAPHIC),
    ("blocked", "surface", GRAPHIC),
]


def colours(scheme: str) -> dict[str, str]:
    """Give the colours by name; dark ones stand in the second block that defines any."""
    style = (files("streams.web") / "assets" / "page.css").read_text("utf-8")
    blocks = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    block = blocks[("light", "dark").index(scheme)]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,8});", block))


def luminance(colour: str) -> float:
    digits = colour[1:]
    whole = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits[:6]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (int(whole[place : place + 2], 16) / 255 for place in (0, 2, 4))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("front", "back", "least"), PAIRS)
def test_colours_stand_out_from_what_they_are_on(scheme, front, back, least):
    named = colours(scheme)
    dim, bright = sorted((luminance(named[front]), luminance(named[back])))
    assert (bright + 0.05) / (dim + 0.05) >= least
