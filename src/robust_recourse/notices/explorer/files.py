"""The built files of the page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

__all__ = ["FILES", "POLICY", "asset", "page"]

FILES = {
    "page.js": "text/javascript; charset=utf-8",
    "page.css": "text/css; charset=utf-8",
}
"""The files beside the page, with their media types."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'"
)
"""The Content-Security-Policy of the page: nothing from outside, nothing inline, whatever a table contains."""

_HERE = "<!-- data -->"


@cache
def asset(name: str) -> bytes:
    """Return one of the files beside the page.

    >>> asset("page.css").decode().count("{") > 0
    True
    """
    if name not in FILES:
        raise KeyError(f"The page has no file {name!r}; it has {', '.join(FILES)}.")
    return files(__package__).joinpath(name).read_bytes()


@cache
def page(data: str = "") -> str:
    """Return the page as HTML.

    Parameters
    ----------
    data : str
        Name of a script beside it that has the data, as :func:`write_explorer` writes it. Empty: the page asks the
        service that serves it.

    >>> "page.js" in page() and "data.js" not in page()
    True
    """
    html = files(__package__).joinpath("index.html").read_text("utf-8")
    return html.replace(_HERE, f'<script src="{data}" defer></script>' if data else "")
