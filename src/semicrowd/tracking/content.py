"""What of a run goes to MLflow, and under which names."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from semicrowd.settings.fields import dotted, shown

#: Longest parameter value that every MLflow server takes; the whole value is in the artifact config.yaml.
LONGEST = 250
#: Maximal length of the given settings in the name of a run.
_LONGEST_OWN = 60
#: Settings of how a run is executed, which do not change its result.
_NOT_PARAMETERS = ("resume", "figures", "logger")
#: Prefix of the names of metrics of single annotators.
_WEIGHT = "annotator weight/"
#: Maximal number of annotators with a metric of their own; the metrics of a larger crowd would fill MLflow's list.
_MOST_ANNOTATORS = 60
#: Prefix of the names of metrics of single epochs.
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


def run_name(settings: Mapping[str, Any], given: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Such as ``mnist bayes crowd seed 0``, and of a user's own files ``wines.csv cotrain answers.csv K=4 seed 0``.

    Parameters
    ----------
    given : the settings that the user has given, by dotted name; those of the model and the answers are in the name
    """
    groups = " ".join(_called(settings[group]) for group in ("data", "model", "annotations"))
    own = " ".join(filter(None, (_own(name, value) for name, value in sorted(given.items()))))
    own = own if len(own) <= _LONGEST_OWN else own[: _LONGEST_OWN - 1] + "…"
    return f"{groups} {own} seed {settings['seed']}" if own else f"{groups} seed {settings['seed']}"


def _own(name: str, value: Any) -> str:
    """A given setting in a run's name, such as ``K=4``; empty if it is not one of the model or the answers."""
    group, _, rest = name.partition(".")
    if not rest or group not in ("model", "annotations") or name in ("annotations.path", "annotations.columns"):
        return ""
    return f"{rest}={' '.join(shown(value).split())}"


def _called(group: Mapping[str, Any]) -> str:
    """The name of a file or folder, of one data set among several, or of the choice."""
    path = group.get("path")
    if path:
        files = [path] if isinstance(path, str | Path) else path
        return " + ".join(" ".join(Path(str(one)).name.split()) or str(one) for one in files)
    return str(group.get("which") or group["name"])


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
    return {_allowed(name): shown(value) for name, value in found.items() if value is not None}


def description(warnings: Sequence[str]) -> dict[str, str]:
    """What stands at the top of a run's page, and why not to trust its result, which is a tag as well.

    Parameters
    ----------
    warnings : a line each
    """
    where = "Artifacts, report.html: clusters, annotators, figures, what decided and what would help most."
    if not warnings:
        return {"mlflow.note.content": where}
    listed = "\n".join(f"- {line}" for line in warnings)
    return {"warnings": "; ".join(warnings),
            "mlflow.note.content": f"Not to be trusted as it is:\n\n{listed}\n\n{where}"}  # fmt: skip


def annotator_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Metrics ``annotator weight/NAME``, which MLflow compares between runs; of few annotators.

    Two whose names are the same in the characters that MLflow takes are told apart by a number.
    """
    found: dict[str, float] = {}
    if len(weights) > _MOST_ANNOTATORS:
        return found
    for number, (name, weight) in enumerate(weights.items()):
        plain = name.replace("/", "_") if name.strip(".") else "_"  # a metric's name is a path to MLflow
        key = _allowed(f"{_WEIGHT}{plain}")
        found[key if key not in found else f"{key[: LONGEST - 8]} {number}"] = _finite(weight)
    return found


def _allowed(name: str) -> str:
    return "".join(c if c.isalnum() or c in "_-. /" else "_" for c in name)[:LONGEST]


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
    return float(value) if math.isfinite(value) else math.nan
