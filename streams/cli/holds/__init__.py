"""``truthgate hold``, ``resume`` and ``holds``: stop sending by itself at once, let it go again, and see."""

from streams.cli.holds.command import hold, holds, resume

__all__ = ["hold", "holds", "resume"]
