"""Writes every file that is made from the code."""

from docs.generate.chart import generated
from docs.generate.reference.made import made

for place, text in (made() | generated()).items():
    place.parent.mkdir(exist_ok=True)
    place.write_text(text, "utf-8")
