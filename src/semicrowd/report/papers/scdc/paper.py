"""The numbers that the SCDC paper prints, by table and figure, and the protocols behind them.

Accuracies and NMI are fractions (the paper partly prints per cent), times are seconds an epoch. A figure whose curves
have no printed numbers has none here.
"""

from typing import Any

from semicrowd.report.cells import PaperValue
from semicrowd.report.exhibits import Protocol, Setting
from semicrowd.settings.rule import Facts, recipe


def _printed(cell: str, **numbers: float | tuple[float, float]) -> tuple[PaperValue, ...]:
    return tuple(
        PaperValue(cell, quantity, *(number if isinstance(number, tuple) else (number,)))
        for quantity, number in numbers.items()
    )


# Section 5.1, the text about Fig. 2: one run each.
FIGURE_2_PRINTED = (
    *_printed("b: good initialisation, no answers", accuracy=0.956, nmi=0.91, clusters=8),
    *_printed("c: bad initialisation, no answers", accuracy=0.756, nmi=0.806),
    *_printed("d: with answers", accuracy=0.966, nmi=0.94, clusters=6),
)
# Mean and standard deviation over 5 runs, each the best of 10 initialisations. "NMI" of this table is adjusted mutual
# information with the 'max' average (docs/DEVIATIONS.md, row 2).
TABLE_1_PRINTED = (
    *_printed("SCDC, without", accuracy=(0.6592, 0.0347), nmi=(0.6953, 0.0167), seconds_per_epoch=177.3),
    *_printed("SCDC, with", accuracy=(0.8187, 0.0386), nmi=(0.7657, 0.0233), seconds_per_epoch=201.7),
    *_printed("BayesSCDC, without", accuracy=(0.7764, 0.0397), nmi=(0.7944, 0.0178), seconds_per_epoch=11.2),
    *_printed("BayesSCDC, with", accuracy=(0.8424, 0.0552), nmi=(0.8120, 0.0210), seconds_per_epoch=16.4),
)
# Section 5.3, the text about Fig. 4b: 5 runs.
FIGURE_4B_PRINTED = (
    *_printed("SCDC, without", accuracy=(0.1423, 0.0069), nmi=(0.0424, 0.0119)),
    *_printed("SCDC, with", accuracy=(0.5009, 0.0008), nmi=(0.5549, 0.0028)),
)
# Appendix C, the text about Fig. 5: best of 5 runs on CIFAR-10.
FIGURE_5_PRINTED = (
    *_printed("deep MCVC on CIFAR-10, best of 5 runs", nmi=0.44),
    *_printed("SCDC on CIFAR-10", nmi=0.55),
)


_MODELS = ("scdc", "bayes")

#: Settings that describe the paper's experiments: key, name in the report, and other arguments of :class:`Setting`.
_NAMED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("epochs", "epochs", {}),
    ("batch_size", "batch", {}),
    ("model.K", "K", {}),
    ("model.latent_dim", "latent dimensions", {}),
    ("model.hidden", "hidden layers", {}),
    ("start.kind", "start", {}),
    ("model.linear_skip", "linear skip in the networks", {}),
    ("nets.kind", "networks", {}),
    ("nets.precision", "precision of the networks", {}),
    ("views.kind", "views", {}),
    ("model.learning_rate", "learning rate of the networks", {}),
    ("model.final_rate", "last step sizes as a fraction of the first", {}),
    ("model.sampler", "sampling of answers", {"with_answers": True}),
    ("model.final_refits", "updates of the annotators from all answers after training", {"with_answers": True}),
    ("model.concentration", "prior concentration of the mixing weights", {"said": ".05/K", "model": "bayes"}),
    ("model.annotators", "prior of the annotators", {"with_answers": True, "model": "bayes"}),
    ("model.optimizer", "optimiser of the networks", {"model": "bayes"}),
    ("model.natural_gradient", "natural gradient", {"said": "with both terms of eq. 17", "model": "bayes"}),
    ("model.step_size", "step on the global posterior", {"model": "bayes"}),
    ("model.amortisation", "weight of the recognition network's own objective", {"model": "bayes"}),
    ("model.initial_quality", "first sensitivities and specificities",
     {"with_answers": True, "said": "each from Beta(1, 1)", "model": "scdc"}),
    ("start.hold", "q(z | o) held fixed after the start", {"model": "scdc"}),
    ("start.agree_epochs", "epochs that train the agreement of views", {"model": "scdc"}),
    ("model.drop_mass", "probability mass of unlikely clusters that share one x", {"model": "scdc"}),
    ("model.max_clusters", "maximal number of clusters with an x of their own", {"model": "scdc"}),
)  # fmt: skip


def _settings(data: str | None = None, **own: Any) -> tuple[Setting, ...]:
    """The paper's settings of a data set, as protocol=paper has them (:mod:`semicrowd.settings.rule`).

    Parameters
    ----------
    own : dotted setting, its dot written as two underscores → the paper's value where the rule has another; None where
        the networks have no such setting
    """
    # The paper's networks are plain; the rule leaves linear_skip at the default of the model.
    chosen = {"model.linear_skip": False} | {name.replace("__", "."): value for name, value in own.items()}
    facts = Facts(num_items=1, num_features=100, data=data)
    stated = {model: recipe(model, {}, facts, "paper").values | chosen for model in _MODELS}
    found = []
    for key, label, more in _NAMED:
        if key in chosen and chosen[key] is None:
            continue
        of_models = [model for model in _MODELS if key in stated[model] and more.get("model", model) == model]
        values = [_plain(stated[model][key]) for model in of_models]
        if all(value == values[0] for value in values):
            found.append(Setting(key, label, values[0], **more))
        else:
            found += [Setting(key, label, value, **{**more, "model": model})
                      for value, model in zip(values, of_models, strict=True)]
    return tuple(found)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


#: The paper shows one run of each kind.
FIGURE_2 = Protocol(1, _settings("pinwheel"), _MODELS)
#: It averages ten runs on Face.
FACE = Protocol(
    10,
    (*_settings("face"), Setting("data.pca", "principal components", 20)),
    _MODELS,
    (
        "the 624 images that the archive holds (paper: 640)",
        "half of each annotator's pairs truly show the same pose (paper: equal numbers of must-links and cannot-links)",
    ),
)
_MNIST = (
    *_settings("mnist"),
    Setting("restarts", "initialisations of each run, of which the best is used", 10),
)
#: Five runs, each the best of ten initialisations.
TABLE_1 = Protocol(
    5,
    _MNIST,
    _MODELS,
    (
        "the paper's NMI is adjusted mutual information with the 'max' average: compared with ours of the same kind",
        "on the test set (paper: not said)",
        "the best start is chosen by the ELBO (paper: not said)",
    ),
)
#: One run.
FIGURE_4A = Protocol(1, _MNIST, _MODELS, ("with the crowd's answers (paper: not said)",))
#: Five runs.
FIGURE_4B = Protocol(
    5,
    (
        *_settings(
            epochs=200, batch_size=100, model__K=10, model__latent_dim=64, nets__kind="resnet",
            model__learning_rate=3e-3, model__hidden=None,
        ),
        Setting("nets.classifier", "channels of the first layers of q(z | o)", 128),
        Setting("model.sample_size", "answers a step", 200, with_answers=True),
        Setting("data.subset", "training images", None, said="all 50,000, of which 4,000 are annotated"),
    ),
    ("scdc",),
    (
        "answers are simulated (paper: a crowd's, which are not published)",
        "on the test set (paper: not said)",
    ),
)
