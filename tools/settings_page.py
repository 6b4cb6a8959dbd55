"""Hooks of mkdocs: the page of all settings is made of conf/ with the site; pages for readers: formulas, docstrings."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

CONF = Path(__file__).parents[1] / "conf"
GROUPS = ("data", "annotations", "model", "trainer", "logger")
BEGIN = """# Settings

A setting is written `name=value` after `semicrowd train` (or `python src/train.py` in a copy of the project), a setting
of a group with the group's name: `model.epochs=20`. Nothing has to be given. These are the files of `conf/`, which
[Hydra](https://hydra.cc) reads; `_target_` names the class or function that takes the settings, whose
[documentation](api.md) says more.
"""


def page() -> str:
    """The page in Markdown."""
    parts = [BEGIN, _block("config.yaml", CONF / "config.yaml")]
    for group in GROUPS:
        parts.append(f"## {group}\n")
        parts += [_block(f"{group}={path.stem}", path, 3) for path in sorted((CONF / group).glob("*.yaml"))]
    return "\n".join(parts)


def _block(title: str, path: Path, level: int = 2) -> str:
    return f"{'#' * level} {title}\n\n```yaml\n{path.read_text(encoding='utf-8')}```\n"


def on_files(files: Files, config: Any) -> Files:
    """Add the page to those of the site."""
    files.append(File.generated(config, "reference/settings.md", content=page()))
    return files


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Formulas get their subscripts, x_i and μ_{z_i}; the page of the classes loses what is not for readers.

    Docstrings mark names as Sphinx wants it, ``:func:`name```: the name remains. mkdocstrings puts a dash behind what
    has no description too.
    """
    if page.file.src_uri == "reference/api.md":
        html = re.sub(r":(?:func|class|meth|mod|attr):(?=<code>|`)|`", "", html)
        html = re.sub(r"–\s*<div class=\"doc-md-description\">\s*</div>", "", html).replace("</code>\n)", "</code>)")
    pieces = re.split(r"(<(pre|code)\b.*?</\2>|<[^>]+>)", html, flags=re.DOTALL)  # text, code or mark, its name or None
    return "".join(_formula(piece) if number % 3 == 0 else piece for number, piece in enumerate(pieces)
                   if number % 3 < 2)  # fmt: skip


def _formula(text: str) -> str:
    marked = re.sub(r"(?<!\w)([^\W\d_])_(?:\{([^{}]+)\}|([A-Za-z]{1,5})(?![\w(]|,\w))", r"\1<sub>\2\3</sub>", text)
    return marked if marked == text else _formula(marked)
