"""Which lines a change touches, as git tells."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

# Not in one piece, since it would look like a possessive quantifier.
_FILE = "+" * 3 + " "
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


class GitFailed(Exception):
    """Git cannot tell; the message is its own first line."""


def changed_lines(root: Path, folders: Sequence[str], since: str | None = None) -> dict[str, set[int]]:
    """Give the lines of Python files in ``folders`` that are not as they were in ``since``.

    Changes need not be committed. Without ``since``: as where this branch left ``main``; on ``main`` itself,
    as in the last tag, or where there is none as before the last commit.

    Raises:
        GitFailed: there is no such commit.
    """
    diff = _git(root, "diff", "--unified=0", "--no-prefix", since or _base(root), "--", *folders)
    lines: dict[str, set[int]] = {}
    for line in diff.splitlines():
        if line.startswith(_FILE):
            file = line.removeprefix(_FILE)
        elif (hunk := _HUNK.match(line)) and file.endswith(".py"):
            begin, count = int(hunk[1]), int(hunk[2] or 1)
            lines.setdefault(file, set()).update(range(begin, begin + count))
    return {file: each for file, each in lines.items() if each}


def _base(root: Path) -> str:
    base = _git(root, "merge-base", "HEAD", "main").strip()
    if base != _git(root, "rev-parse", "HEAD").strip():
        return base
    try:
        return _git(root, "describe", "--tags", "--abbrev=0").strip()
    except GitFailed:  # a checkout without tags
        return "HEAD~"


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=root, check=False, capture_output=True, text=True)
    if done.returncode:
        raise GitFailed(done.stderr.partition("\n")[0])
    return done.stdout
