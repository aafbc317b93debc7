"""``truthgate demo``: the whole of truthgate on this machine, with nothing to set up."""

from streams.cli.demo.demo_command import demo

__all__ = ["demo"]
