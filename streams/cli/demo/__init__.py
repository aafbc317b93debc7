"""`truthgate demo`: all of truthgate on this machine, without setup."""

from streams.cli.demo.demo_command import demo

__all__ = ["demo"]
