"""How the SCDC paper ran what its tables and figures show."""

from semicrowd.report.protocol import Protocol, Setting

_MODELS = ("scdc", "bayes")

# What the paper's experiments share (App. B and sections 2.3 and 3.2).
_COMMON = (
    Setting("start.kind", "start", "cold"),
    Setting("model.linear_skip", "linear skip in the networks", False),
    Setting("nets.kind", "networks", "mlp"),
    Setting("nets.precision", "precision of the networks", "float32"),
    Setting("views.kind", "views", "none"),
    Setting("model.learning_rate", "learning rate of the networks", 1e-3),
    Setting("model.final_rate", "last step sizes as a fraction of the first", 1.0),
    Setting("model.sampler", "sampling of answers", "pairs", with_answers=True),
    Setting("model.final_refits", "updates of the annotators from all answers after training", 0, with_answers=True),
    Setting("model.concentration", "prior concentration of the mixing weights", "paper", said=".05/K", model="bayes"),
    Setting("model.annotators", "prior of the annotators", "fixed", with_answers=True, model="bayes"),
    Setting("model.optimizer", "optimiser of the networks", "momentum", said="steps with momentum .9", model="bayes"),
    Setting("model.natural_gradient", "natural gradient", "full", said="with both terms of eq. 17", model="bayes"),
    Setting("model.step_size", "step on the global posterior", 1e-4, model="bayes"),
    Setting("model.merge_every", "epochs between rounds of merges (0: none)", 0),
    Setting("model.amortisation", "weight of the recognition network's own objective", 0.0, model="bayes"),
    Setting("model.initial_quality", "first sensitivities and specificities", "paper", with_answers=True,
            said="each from Beta(1, 1)", model="scdc"),
    Setting("start.hold", "q(z | o) after the start (true: it stays as it is)", False, model="scdc"),
    Setting("start.agree_epochs", "epochs in which views of an image learn to agree", 0, model="scdc"),
    Setting("model.drop_mass", "mass of q(z | o) without an x of its own", 0.0, model="scdc"),
    Setting("model.max_clusters", "clusters with an x of their own, at most", None, model="scdc"),
)  # fmt: skip


def _settings(epochs: int, batch: int, clusters: int, dimensions: int, hidden: list[int]) -> tuple[Setting, ...]:
    return (
        Setting("epochs", "epochs", epochs),
        Setting("batch_size", "batch", batch),
        Setting("model.K", "K", clusters),
        Setting("model.latent_dim", "latent dimensions", dimensions),
        Setting("model.hidden", "hidden layers", hidden),
        *_COMMON,
    )


#: The paper shows one run of each kind.
FIGURE_2 = Protocol(1, _settings(20, 50, 15, 2, [40, 40]), _MODELS)
#: It averages ten runs on Face.
FACE = Protocol(
    10,
    (*_settings(20, 10, 4, 8, [40, 40]), Setting("data.pca", "principal components", 20)),
    _MODELS,
    (
        "the 624 images that the archive holds (paper: 640)",
        "half of each annotator's pairs are truly of one pose (paper: equal numbers of must-links and cannot-links)",
    ),
)
_MNIST = (
    *_settings(200, 128, 50, 8, [500, 500]),
    Setting("restarts", "initialisations a run, the best counts", 10),
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
_OF_COLOURS = ("nets.kind", "model.learning_rate")
#: Five runs.
FIGURE_4B = Protocol(
    5,
    (
        Setting("epochs", "epochs", 200),
        Setting("batch_size", "batch", 100),
        Setting("model.K", "K", 10),
        Setting("model.latent_dim", "latent dimensions", 64),
        Setting("nets.kind", "networks", "resnet"),
        Setting("nets.classifier", "channels of the first layers of q(z | o)", 128),
        Setting("model.learning_rate", "learning rate of the networks", 3e-3),
        Setting("model.sample_size", "answers a step", 200, with_answers=True),
        Setting("data.subset", "training images", None, said="all 50,000, of which 4,000 are annotated"),
        *(one for one in _COMMON if one.key not in _OF_COLOURS),
    ),
    ("scdc",),
    (
        "answers are simulated (paper: a crowd's, which are not published)",
        "on the test set (paper: not said)",
    ),
)
