"""What the worker serves over HTTP: health, readiness, metrics, and a live page of verdicts."""

from streams.web.web_server import create_web_app, page_url, serve

__all__ = ["create_web_app", "page_url", "serve"]
