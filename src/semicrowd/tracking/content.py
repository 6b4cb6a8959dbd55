"""What of a run goes to MLflow, and under which names."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from semicrowd.settings.fields import dotted

#: Longest parameter value that every MLflow server takes; the whole value is in the artifact config.yaml.
LONGEST = 250
#: Settings that say how to run, not what.
_NOT_PARAMETERS = ("resume", "figures", "logger")
#: What the names of metrics of single epochs begin with.
CURVE = "curve/"


def parameters(settings: Mapping[str, Any]) -> dict[str, str]:
    """A run's settings, flattened to ``group.key``; values of more than 250 characters are cut."""
    flat = dotted({key: value for key, value in settings.items() if key not in _NOT_PARAMETERS})
    texts = {name: "null" if value is None else str(value) for name, value in flat.items()}
    # A group's own name is the group: `data`, not `data.name`, as on the command line.
    return {
        name.removesuffix(".name"): text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
        for name, text in texts.items()
    }


def run_name(settings: Mapping[str, Any]) -> str:
    """Such as ``mnist bayes crowd seed 0``."""
    groups = " ".join(settings[group]["name"] for group in ("data", "model", "annotations"))
    return f"{groups} seed {settings['seed']}"


def tags(provenance: Mapping[str, Any]) -> dict[str, str]:
    """Where a run comes from, as tags; what is not known is left out.

    Parameters
    ----------
    provenance : content of provenance.json
    """
    annotations = provenance.get("annotations") or {}
    found = {
        # MLflow's own names, which its pages show: "Source" and the version of the code.
        "mlflow.source.type": "LOCAL",
        "mlflow.source.name": provenance.get("command"),
        "mlflow.source.git.commit": provenance.get("git_commit"),
        "git.dirty": provenance.get("git_dirty"),
        "annotations.source": annotations.get("source"),
        "annotations.simulated": annotations.get("simulated"),
        **{f"sha256.{name}": digest for name, digest in (provenance.get("data_hashes") or {}).items()},
        **{f"version.{name}": version for name, version in (provenance.get("versions") or {}).items()},
    }
    return {_allowed(name): _text(value) for name, value in found.items() if value is not None}


def warning_tags(warnings: Sequence[str]) -> dict[str, str]:
    """Why not to trust a run's result, as a tag and as the description on the run's page; none where there is nothing.

    Parameters
    ----------
    warnings : a line each
    """
    if not warnings:
        return {}
    listed = "\n".join(f"- {line}" for line in warnings)
    return {"warnings": "; ".join(warnings), "mlflow.note.content": f"Not to be trusted as it is:\n\n{listed}"}


def _allowed(name: str) -> str:
    """A tag's name in the characters that MLflow takes."""
    return "".join(c if c.isalnum() or c in "_-. /" else "_" for c in name)[:LONGEST]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def curve(metrics: Mapping[str, float]) -> dict[str, float]:
    """An epoch's metrics: ``proportions/used`` is ``curve/proportions used``.

    The names differ from those of metrics.json, which are about the fixed model, and have one prefix: MLflow draws the
    metrics of a prefix side by side.
    """
    return {f"{CURVE}{name.replace('/', ' ')}": _finite(value) for name, value in metrics.items()}


def final(metrics: Mapping[str, float]) -> dict[str, float]:
    """Content of metrics.json."""
    return {name: _finite(value) for name, value in metrics.items()}


def _finite(value: float) -> float:
    """NaN for an infinite value: MLflow would store 1.8e308 in its place."""
    return float(value) if math.isfinite(value) else math.nan
