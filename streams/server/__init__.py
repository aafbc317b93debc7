"""``truthgate serve``: judging over HTTP alone, with documents that are given at the start."""

from streams.server.run import run_server

__all__ = ["run_server"]
