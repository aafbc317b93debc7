"""The templates of the desk's pages, in the languages of its catalogues."""

import gettext
from datetime import datetime
from importlib.resources import as_file, files
from typing import Any, Final

from aiohttp import web
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from streams.desk.answer_view import show_invisible

#: Each language of the pages by its own name; the first one is that of the texts in the code.
LANGUAGES: Final = {"en": "English", "nl": "Nederlands"}
LANGUAGE: Final = web.RequestKey("language", str)
TIME_FORMAT: Final = "%Y-%m-%d %H:%M:%S UTC"


class PageTemplates:
    """Renders pages in the language of a request; no text becomes markup."""

    def __init__(self) -> None:
        self._environments = {language: _environment(language) for language in LANGUAGES}

    def render(self, request: web.Request, template: str, status: int = 200, **values: Any) -> web.Response:
        """Return the page of a template."""
        body = self.body(request, template, **values)
        return web.Response(status=status, body=body, content_type="text/html", charset="utf-8")

    def body(self, request: web.Request, template: str, **values: Any) -> bytes:
        """Return a rendered template."""
        language = request[LANGUAGE]
        text = self._environments[language].get_template(template).render(language=language, **values)
        # A text may have half of a surrogate pair, which no encoding has.
        return text.encode("utf-8", "replace")


def choose_language(*wanted: str) -> str:
    """Return the first language that the pages have; tags such as ``nl-BE`` mean their language."""
    languages = (tag.strip().partition("-")[0].lower() for tag in wanted)
    return next((each for each in languages if each in LANGUAGES), next(iter(LANGUAGES)))


def accepted_languages(header: str) -> list[str]:
    """Return the tags of an Accept-Language header, those that are liked best first."""

    def quality(entry: str) -> float:
        try:
            return float(entry.partition("q=")[2] or 1)
        except ValueError:
            return 0.0

    entries = [each for each in header.split(",") if quality(each) > 0]
    return [each.partition(";")[0] for each in sorted(entries, key=quality, reverse=True)]


def _environment(language: str) -> Environment:
    with as_file(files("streams.desk") / "locale") as folder:
        texts = gettext.translation("desk", folder, [language], fallback=language == next(iter(LANGUAGES)))
    environment = Environment(
        loader=PackageLoader("streams.desk"),
        autoescape=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_translations(texts, newstyle=True)  # type: ignore[attr-defined]

    def name(code: str) -> str:
        return show_invisible(texts.gettext(code.replace("_", " ").lower()))

    def moment(time: datetime) -> Markup:
        text = time.strftime(texts.gettext(TIME_FORMAT))
        return Markup('<time datetime="{}">{}</time>').format(time.isoformat(), text)

    environment.filters.update(visible=show_invisible, translate=texts.gettext, named=name, moment=moment)
    environment.globals["languages"] = LANGUAGES
    return environment
