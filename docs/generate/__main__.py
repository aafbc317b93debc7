"""Writes every file that is made from the code."""

from docs.generate.chart import chart_texts
from docs.generate.reference.reference_files import reference_texts
from docs.generate.translations import catalogue_files

for place, text in (reference_texts() | chart_texts()).items():
    place.parent.mkdir(exist_ok=True)
    place.write_text(text, "utf-8")
for place, content in catalogue_files().items():
    place.write_bytes(content)
