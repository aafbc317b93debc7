"""The log lines as the reference page has them."""

import re

from docs.generate.reference.telemetry_page import PAGE


def documented_log_lines() -> list[tuple[str, tuple[str, ...]]]:
    """Give the name and the fields of each line."""
    table = PAGE.read_text("utf-8").partition("| Event | Fields | Meaning |\n|---|---|---|\n")[2]
    rows = [re.fullmatch(r"\| `(\w+)` \| ((?:`\w+`(?:, )?)*) \| .+ \|", row) for row in table.splitlines()]
    assert all(rows), "every row has a name, fields and a meaning"
    return [(row[1], tuple(re.findall(r"\w+", row[2]))) for row in rows if row]
