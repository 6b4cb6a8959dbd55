"""A measurement of the project's own, as the report shows it."""

from dataclasses import dataclass

from semicrowd.report.exhibits import Image


@dataclass(frozen=True)
class StudyTable:
    """A table of texts.

    Attributes
    ----------
    rows : texts of each row, as many as the header has
    missing : of each row, whether it has no numbers yet
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    missing: tuple[bool, ...]


@dataclass(frozen=True)
class Study:
    """What there is of it.

    Attributes
    ----------
    key : its anchor
    status : ``done``, ``partly done`` or ``not measured yet``
    text : how to read it
    findings : one sentence each
    command : that measures it, or what is missing of it
    """

    key: str
    title: str
    status: str
    text: str
    findings: tuple[str, ...] = ()
    images: tuple[Image, ...] = ()
    table: StudyTable | None = None
    command: str = ""
