"""Writes docs/reference/settings.md, the page of all settings, from :mod:`semicrowd.settings`: ``make docs``."""

from collections.abc import Iterator
from pathlib import Path

from semicrowd.settings.fields import Description, described, shown
from semicrowd.settings.groups import CHOSEN, FIXED, SEVERAL, TOP, choice_of, what_is
from semicrowd.settings.methods import METHODS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "settings.md"
_INTRODUCTION = """\
# All settings

A setting is written `name=value` after `semicrowd train` (or `python src/train.py` in a copy of the project). Nothing
has to be given: what nobody sets has the default below, or what the [rule](../DEFAULTS.md) says for data and method.
The `config.yaml` of a run has the values that it used.

`make docs` writes this page from the program's own list of settings.
"""
#: Group → what it decides, and the start of its heading.
_GROUPS = {
    "data": ("Data", "What is clustered. Your own data are `table`, `images` or `npz`."),
    "annotations": ("Answers", "Where the answers come from. Your own are `file`; others are simulated or published."),
    "model": ("Method", "What clusters. `cotrain` comes with your own tables, `scdc` with all else."),
}


def settings_page() -> str:
    """All settings, in Markdown."""
    return "\n".join([_INTRODUCTION, *_chosen(), *_fixed()])


def _chosen() -> Iterator[str]:
    """Groups of which a choice decides what settings there are."""
    for group, (title, what) in _GROUPS.items():
        yield f"\n## {title}: `{group}=`\n\n{what}\n"
        for choice, kind in CHOSEN[group].items():
            yield f"\n### {group}={choice}\n\n{what_is(group, choice)}\n"
            if group == "model" and METHODS[choice].others:
                others = ", ".join(f"`{name}`" for name in METHODS[choice].others if name)
                yield f"It has the settings of {others}, and of the run and its training, below, too.\n"
            yield from _table(described(kind), f"{group}.")


def _fixed() -> Iterator[str]:
    """Groups whose settings are always the same, and settings without a group."""
    yield "\n## The run and its training\n"
    for kind in TOP:
        yield from _table(described(kind), "")
    for group, kind in FIXED.items():
        first, *others = described(kind)
        yield f"\n## {group}=\n\n{_cell(first.help)}.\n\nChoices: {_words(choice_of(group)[1])}.\n"
        for name, settings in SEVERAL.get(group, {}).items():
            given = ", ".join(f"`{group}.{key}={shown(value)}`" for key, value in settings.items())
            yield f"- `{group}={name}` stands for {given}"
        yield ""
        yield from _table(others, f"{group}.")


def _table(settings: list[Description], prefix: str) -> Iterator[str]:
    if not settings:
        yield "No settings of its own.\n"
        return
    yield "| setting | default | what it is | takes |\n|-|-|-|-|"
    for one in settings:
        # That of most methods on the command line is the number of classes of the data.
        default = "as many as the data have classes" if one.name == "n_clusters" else f"`{shown(one.default)}`"
        takes = one.rule(object()) or ""
        takes += ", or null" if one.optional and "null" not in takes else ""
        yield f"| `{prefix}{one.spelled}` | {_cell(default)} | {_cell(one.help)} | {_cell(takes)} |"
    yield ""


def _cell(text: str) -> str:
    """Text as a cell of a table has it."""
    return text.replace("|", r"\|").replace("<", "&lt;").replace("*", r"\*").replace("\n", " ")


def _words(words: tuple[str, ...]) -> str:
    return ", ".join(f"`{one}`" for one in words)


if __name__ == "__main__":
    PAGE.write_text(settings_page(), encoding="utf-8")
