"""Writes the pages that are made from the code."""

from __future__ import annotations

from website.reference.made import made

for place, text in made().items():
    place.write_text(text, encoding="utf-8")
