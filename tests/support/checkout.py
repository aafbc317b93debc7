"""A folder that looks like the checkout, for what writes into its working folder."""

from pathlib import Path

ROOT = Path(__file__).parents[2]


def linked_checkout(folder: Path) -> Path:
    """Make a folder of links to everything in the checkout that is of the project."""
    folder.mkdir()
    for path in ROOT.iterdir():
        if path.name not in {".git", ".venv", "dist", "build"}:
            (folder / path.name).symlink_to(path)
    return folder
