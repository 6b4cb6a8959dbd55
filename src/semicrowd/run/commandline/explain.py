"""``--explain``: every setting of a run, its value, and the argument, file or rule that set it."""

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

from semicrowd.run.settings import DEFAULT, Resolved
from semicrowd.settings.fields import shown
from semicrowd.settings.groups import groups_of


def show_explanation(resolved: Resolved) -> None:
    """Print the table, with default values dimmed."""
    console = Console(width=None if sys.stdout.isatty() else 200)
    chosen = " ".join(f"{group}={name}" for group, name in resolved.choices.items())
    table = Table(title=f"settings of {chosen}", title_justify="left")
    for heading in ("setting", "value", "set by"):
        table.add_column(heading, overflow="fold")
    for group in ("", *groups_of(resolved.choices)):
        if group in resolved.choices:
            table.add_row(group, resolved.choices[group], resolved.origins[group])
        for name, value in resolved.group(group).items():
            full = f"{group}.{name}" if group else name
            origin = resolved.origins[full]
            style = "dim" if origin == DEFAULT else ""
            table.add_row(full, Text(shown(value)), Text(origin), style=style)
    for name, value in resolved.extra.items():
        table.add_row(name, Text(shown(value)), Text(f"+{name}={shown(value)}"))
    console.print(table)
