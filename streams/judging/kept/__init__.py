"""Opinions that outlive the process, and are asked for once however many wait for them."""

from streams.judging.kept.opinions import KeptOpinions, open_kept_opinions

__all__ = ["KeptOpinions", "open_kept_opinions"]
