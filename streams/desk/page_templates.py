"""The templates of the desk's pages."""

from typing import Any

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined

from streams.desk.answer_view import show_invisible


class PageTemplates:
    """Renders pages; no text becomes markup."""

    def __init__(self) -> None:
        self._templates = Environment(
            loader=PackageLoader("streams.desk"), autoescape=True, undefined=StrictUndefined
        )
        self._templates.filters["visible"] = show_invisible

    def render(self, template: str, status: int = 200, **values: Any) -> web.Response:
        """Return the page of a template."""
        text = self._templates.get_template(template).render(**values)
        # A text may have half of a surrogate pair, which no encoding has.
        body = text.encode("utf-8", "replace")
        return web.Response(status=status, body=body, content_type="text/html", charset="utf-8")
