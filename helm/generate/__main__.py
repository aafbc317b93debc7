"""Writes the generated files of the chart."""

from helm.generate import generated

for path, text in generated().items():
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
