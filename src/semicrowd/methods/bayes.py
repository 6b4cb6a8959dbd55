"""BayesSCDC as an estimator."""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from semicrowd.estimators.base import COUNT
from semicrowd.methods.generative import CONSTRAINTS, Generative


class BayesSCDC(Generative):
    """BayesSCDC, the fully Bayesian model of the SCDC paper (section 3), trained by Algorithm 1.

    π ~ Dir(c), (μ_k, Σ_k) ~ NIW, z_n ~ Cat(π), x_n ~ N(μ_z, Σ_z), o_n ~ p(o | x_n; γ); annotator m says of a pair of
    one cluster "same" with probability α_m ~ Beta, of two clusters "different" with probability β_m ~ Beta. q(z, x)
    is found by message passing (eqs. 12 and 14) from the recognition network's potentials, q(π, μ, Σ, α, β) by
    natural-gradient steps (eq. 17). It estimates clusters, their number, and the annotators' sensitivity and
    specificity.

    Every parameter that is None is set in ``fit`` from the data, and is then in ``params_``.

    Parameters
    ----------
    n_clusters : int, default=None
        K, maximal number of clusters; superfluous ones become empty. None: 15, more for more than 10,000 items
    latent_dim : int, default=None
        d, dimensions of the latent x. None: 8, at most the number of columns; protocol=paper: 2, for MNIST 8
    hidden : tuple of int, default=None
        widths of the networks' hidden layers. None: (40, 40), for grey images (500, 500)
    likelihood : {'gaussian', 'bernoulli', 'logistic'}, default=None
        of the features: bernoulli for values from 0 to 1, logistic for 256 steps from 0 to 1. None: gaussian for
        tables, bernoulli for grey images, logistic for coloured ones with architecture=conv or resnet
    preparation : {'none', 'standard'}, default=None
        standard: constant columns dropped, standardised, principal components. None: standard for tables
    linear_skip : bool, default=None
        linear connection from the input to the networks' first head, as in SVAE. None: True; protocol=released: False
    concentration : {'paper', 'corrected', 'released'}, default=None
        of p(π): paper .05/K, corrected 1 + .05/K, released 1.05. None: paper; protocol=released: released
    annotators : {'empirical', 'fixed'}, default=None
        priors of the annotators' rates after training: fitted to all annotators, or Beta(1, 1). None: empirical;
        protocol=paper: fixed
    natural_gradient : {'svi', 'full'}, default=None
        without or with the second term of eq. 17. None: svi; protocol=paper: full
    step_size : float or 'released', default=None
        initial ρ of the natural-gradient step; released: 100 / N, at most 1, as long as the authors' steps of 10 / N
        with momentum .9. None: .005; protocol=paper: .0001
    natural_momentum : float, default=None
        weight of earlier steps in the mean direction of the natural-gradient step. None: 0; protocol=released: .9
    optimizer : {'adam', 'momentum'}, default=None
        of the networks; momentum: gradient steps with momentum .9. None: adam; protocol=paper: momentum
    amortisation : float, default=None
        weight of E ln q(z | features alone) under q(z), with which the networks learn to predict q(z). None: 0,
        for grey images 10
    max_sweeps : int, default=None
        maximal number of message-passing sweeps in a step (eqs. 12 and 14). None: 3; protocol=paper: 10
    potentials : {'moments', 'natural'}, default=None
        what the recognition network's outputs are: mean and variance, or μ/σ² and 1/σ² themselves, the latter by a
        softplus. None: moments; protocol=released: natural
    inference : {'fixed_point', 'unrolled'}, default=None
        message passing in a step: damped sweeps to a fixed point, through which one pass is differentiated, or
        ``max_sweeps`` sweeps from a random q(z) with the gradient through all. None: fixed_point; protocol=released:
        unrolled
    initial_weights : {'he', 'glorot'}, default=None
        of the networks' affine layers: variance 2 / in, heads a tenth of it, or 2 / (in + out). None: he;
        protocol=released: glorot
    binary_draws : bool, default=None
        draw black and white pixels anew in every step, with the grey values as probabilities. None: False;
        protocol=released: True for grey images
    batch_weights : {'unbiased', 'released'}, default=None
        of a step's items and answers: inverse inclusion probabilities, or, as in the authors' code, half of the data
        term for the annotated items, however few they are, and |B|² / N of the annotators' counts. None: unbiased;
        protocol=released: released
    architecture : {'mlp', 'conv', 'resnet'}, default=None
        dense layers of the widths ``hidden``, convolutional encoders, or residual encoders and decoder (App. B,
        CIFAR-10). None: mlp
    channels : tuple of int, default=None
        of the convolutions of stride 2 (conv), or of the blocks at each resolution (resnet). None: (16, 32);
        resnet with protocol=default: (8, 16, 32)
    blocks : int, default=None
        residual blocks at the last resolution (conv), or at each but the first, which has one (resnet). None: 1;
        resnet with protocol=default: 2
    precision : {'float32', 'bfloat16', 'auto'}, default=None
        of matrix products, while parameters are float32; auto: bfloat16 if the machine has instructions for it. None:
        auto for images, else float32
    init : {'cold', 'mixture', 'answers', 'cotraining', 'features', 'communities'}, default=None
        the clusters that training begins with, after a VAE without clusters: random, as in the paper (cold); a
        Gaussian mixture of latent means, whose components are joined (mixture); networks trained on the answers
        (answers); co-training, which selects by its evidence (cotraining); clusters of the features alone
        (features); communities in the graph of neighbouring latent means (communities). None: cotraining with answers,
        features without; for grey images communities; protocol=paper or released: cold; protocol=model:
        mixture
    init_epochs : int, default=None
        epochs of this VAE. None: by the number of items, see :mod:`semicrowd.methods.protocols`
    init_learning_rate : float, default=None
        of this VAE, and of networks that learn the initial clusters. None: .003, for images .001
    teach_epochs : int, default=None
        epochs in which the networks learn the initial clusters. None: 50, for images 20
    teach_weight : float, default=None
        weight of the initial clusters relative to the rest of the ELBO. None: 30
    augmentation : {'none', 'affine'}, default=None
        slightly transformed copies of each image, of the same cluster: rotated, sheared, scaled and shifted.
        None: affine for grey images, else none
    epochs : int, default=None
        0: only the initialisation. None: 20 for up to 10,000 items; protocol=paper: 200
    batch_size : int, default=None
        items without answers in a training step. None: 128
    learning_rate : float, default=None
        initial learning rate of the networks. None: .001
    final_rate : float, default=None
        final step sizes as a share of the initial ones; they decrease along a cosine. None: .05; protocol=paper: 1
    clip : float, default=None
        maximal norm of a restart's gradient, per item in nats. None: no limit
    final_refits : int, default=None
        exact updates of the annotators' rates from all answers after the last epoch. None: 3; protocol=paper: 0
    sampler : {'auto', 'pairs', 'tasks', 'nodes'}, default=None
        how the answers of a training step are sampled; auto: tasks if there are any, else nodes. None: auto;
        protocol=paper: pairs
    sample_size : int, default=None
        pairs, tasks or nodes in a step. None: 3 tasks (up to 60 if some are single pairs), 108 nodes, or pairs in
        proportion to the items (App. B)
    restarts : int, default=1
        independent initialisations, fitted at once; the one with the highest ELBO is kept
    protocol : {'default', 'paper', 'released', 'model'}, default='default'
        what parameters that are None become: the best inference found here (docs/DEFAULTS.md), the paper's settings,
        those of the authors' code, or the paper's model and inference from a start of its own
    image_shape : tuple of int, default=None
        (height, width) or (colours, height, width) if the rows of X are images
    trainer : callable, default=None
        takes keywords of ``pytorch_lightning.Trainer`` and returns one, such as ``partial(Trainer,
        accelerator="gpu")``
    memory : str, Path or joblib.Memory, default=None
        folder that keeps results of the initialisation, which several fits may share
    n_jobs : int, default=None
        processes of init=cotraining; −1: one for each core. The result does not depend on it
    random_state : int, RandomState or None, default=0
        None: a new seed at every fit
    verbose : bool, default=False
        progress on standard error

    Examples
    --------
    Irises, and three people who were asked about pairs of them and are always right: one about 100, two about 20 each.

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import check_random_state
    >>> from semicrowd import BayesSCDC
    >>> X, kind = load_iris(return_X_y=True)
    >>> random = check_random_state(0)
    >>> i = random.randint(150, size=140)
    >>> j = (i + random.randint(1, 150, size=140)) % 150
    >>> person = np.repeat([0, 1, 2], [100, 20, 20])
    >>> answers = np.column_stack([i, j, person, kind[i] == kind[j]])

    The setting selects a fast initialisation; by default several are compared, which takes half a minute. The number of
    clusters is not given: 15 is the maximum, and the mixing proportions of clusters without items are close to 0.

    >>> model = BayesSCDC(init="answers").fit(X, pairs=answers)
    >>> len(model.cluster_weights_), model.n_clusters_
    (15, 3)
    >>> bool(model.cluster_weights_[np.unique(model.labels_)].sum() > 0.9)
    True

    The uncertainty of the annotators' rates is estimated, too: the fewer answers, the wider the 90 % interval.

    >>> width = model.workers_["sensitivity_high"] - model.workers_["sensitivity_low"]
    >>> bool(width[0] < width[1:].min())
    True
    """

    name: ClassVar[str] = "bayes"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "potentials": [StrOptions({"moments", "natural"}), None],
        "batch_weights": [StrOptions({"unbiased", "released"}), None],
        "inference": [StrOptions({"fixed_point", "unrolled"}), None],
        "concentration": [StrOptions({"paper", "corrected", "released"}), None],
        "annotators": [StrOptions({"empirical", "fixed"}), None],
        "natural_gradient": [StrOptions({"svi", "full"}), None],
        "step_size": [Interval(Real, 0, 1, closed="right"), StrOptions({"released"}), None],
        "natural_momentum": [Interval(Real, 0, 1, closed="left"), None],
        "optimizer": [StrOptions({"adam", "momentum"}), None],
        "amortisation": [Interval(Real, 0, None, closed="left"), None],
        "max_sweeps": [COUNT, None],
        "teach_weight": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        latent_dim: int | None = None,
        hidden: tuple[int, ...] | None = None,
        likelihood: str | None = None,
        preparation: str | None = None,
        linear_skip: bool | None = None,
        concentration: str | None = None,
        annotators: str | None = None,
        natural_gradient: str | None = None,
        step_size: float | str | None = None,
        natural_momentum: float | None = None,
        optimizer: str | None = None,
        amortisation: float | None = None,
        max_sweeps: int | None = None,
        potentials: str | None = None,
        inference: str | None = None,
        initial_weights: str | None = None,
        binary_draws: bool | None = None,
        batch_weights: str | None = None,
        architecture: str | None = None,
        channels: tuple[int, ...] | None = None,
        blocks: int | None = None,
        precision: str | None = None,
        init: str | None = None,
        init_epochs: int | None = None,
        init_learning_rate: float | None = None,
        teach_epochs: int | None = None,
        teach_weight: float | None = None,
        augmentation: str | None = None,
        epochs: int | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        final_rate: float | None = None,
        clip: float | None = None,
        final_refits: int | None = None,
        sampler: str | None = None,
        sample_size: int | None = None,
        restarts: int = 1,
        protocol: str = "default",
        image_shape: tuple[int, ...] | None = None,
        trainer: Callable[..., Any] | None = None,
        memory: Any = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.latent_dim = latent_dim
        self.hidden = hidden
        self.likelihood = likelihood
        self.preparation = preparation
        self.linear_skip = linear_skip
        self.concentration = concentration
        self.annotators = annotators
        self.natural_gradient = natural_gradient
        self.step_size = step_size
        self.natural_momentum = natural_momentum
        self.optimizer = optimizer
        self.amortisation = amortisation
        self.max_sweeps = max_sweeps
        self.potentials = potentials
        self.inference = inference
        self.initial_weights = initial_weights
        self.binary_draws = binary_draws
        self.batch_weights = batch_weights
        self.architecture = architecture
        self.channels = channels
        self.blocks = blocks
        self.precision = precision
        self.init = init
        self.init_epochs = init_epochs
        self.init_learning_rate = init_learning_rate
        self.teach_epochs = teach_epochs
        self.teach_weight = teach_weight
        self.augmentation = augmentation
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.final_rate = final_rate
        self.clip = clip
        self.final_refits = final_refits
        self.sampler = sampler
        self.sample_size = sample_size
        self.restarts = restarts
        self.protocol = protocol
        self.image_shape = image_shape
        self.trainer = trainer
        self.memory = memory
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
