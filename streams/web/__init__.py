"""The pages that the worker serves over HTTP: health, readiness, metrics, and a page for people."""

from streams.web.server import address_of, create_pages, serve

__all__ = ["address_of", "create_pages", "serve"]
