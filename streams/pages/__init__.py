"""The pages that the worker serves over HTTP: health, readiness, metrics, and a page for people."""

from streams.pages.application import create_pages
from streams.pages.serving import address_of, serve

__all__ = ["address_of", "create_pages", "serve"]
