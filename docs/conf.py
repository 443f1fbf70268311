"""Sphinx configuration; ``make docs`` builds with warnings as errors."""

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import robust_recourse

project = "robust-recourse"
author = "the robust-recourse contributors"
copyright = author
version = release = robust_recourse.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = f"robust-recourse {version}"

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_ivar = True
napoleon_use_rtype = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Types of numpydoc sections are words, not names of objects.
nitpicky = False
# A class may list a reference that its text does not point to.
suppress_warnings = ["ref.citation"]


def draw_figures(app: Sphinx) -> None:
    """Run the tutorial up to its figures, so that the pictures show what its code draws."""
    folder = Path(app.srcdir, "_build", "figures")
    folder.mkdir(parents=True, exist_ok=True)
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```", Path(app.srcdir, "tutorial.md").read_text("utf-8"), re.S | re.M):
        with redirect_stdout(StringIO()):
            exec(block, names)
        if "adversary" in names:
            break
    for name in ("way", "adversary", "odds"):
        names[name].savefig(folder / f"{name}.png", dpi=120)


def skip_field(_app: Sphinx, _what: str, _name: str, obj: Any, skip: bool, _options: Any) -> bool:
    """Leave out what a named tuple says about its own fields: nothing but their number."""
    return skip or str(getattr(obj, "__doc__", "")).startswith("Alias for field number")


def name_references(_app: Sphinx, what: str, name: str, obj: Any, _options: Any, lines: list[str]) -> None:
    """Give the numbered references of a module a name of their own: all modules share one page."""
    module = name if what == "module" else getattr(obj, "__module__", name)
    label = rf"[{module.rsplit('.', 1)[-1]}-\1]"
    for i, line in enumerate(lines):
        # "name, title : str" is about two attributes, which the field list would take for a type and a name.
        if names := re.match(r":(?:ivar|vartype) [\w, ]+:", line):
            line = names[0].replace(", ", ",") + line[names.end() :]
        lines[i] = re.sub(r"^\.\. \[(\d+)\]", f".. {label}", re.sub(r"\[(\d+)\]_", f"{label}_", line))


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", draw_figures)
    app.connect("autodoc-process-docstring", name_references)
    app.connect("autodoc-skip-member", skip_field)
