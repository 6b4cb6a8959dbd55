"""SCDC as an estimator."""

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from semicrowd.estimators.base import COUNT, COUNT_OR_0
from semicrowd.methods.generative import CONSTRAINTS, Generative


class SCDC(Generative):
    """SCDC, the model of the SCDC paper (section 2) with amortised inference and point estimates.

    z_n ~ Cat(π), x_n ~ N(μ_z, Σ_z), o_n ~ p(o | x_n; γ); annotator m says of a pair of one cluster "same" with
    probability α_m, of two clusters "different" with probability β_m. The ELBO L_local + L_rel (eqs. 3 and 4) with
    the networks q(z | o) and q(x | z, o) is maximised by Adam over all parameters. Answers are weighted by the
    estimated rates of their annotators. Superfluous clusters of the ``n_clusters`` stay empty.

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
    initial_quality : {'corrected', 'paper', 'released'}, default=None
        initial α and β: .9, a draw of Beta(1, 1) each, or one draw for all. None: corrected; protocol=paper and grey
        images: paper
    drop_mass : float, default=None
        probability mass of unlikely clusters of an item that share one x; 0: the exact sum over z. None: 0, for grey
        images .01
    location_scale : float, default=None
        standard deviation of the first μ_k of a cold start. None: .19, that of the authors' code
    covariance : {'full', 'diagonal'}, default=None
        of Σ_k; diagonal: learned by the logarithms of σ_k and of q(x | z, o), as in the authors' code. None: full;
        protocol=released: diagonal
    initial_weights : {'he', 'glorot'}, default=None
        of the networks' affine layers: variance 2 / in, heads a tenth of it, or 2 / (in + out). With glorot and
        init=cold π and Σ_k are drawn, too. None: he; protocol=released: glorot
    binary_draws : bool, default=None
        draw black and white pixels anew in every step, with the grey values as probabilities. None: False;
        protocol=released: True for grey images
    architecture : {'mlp', 'conv', 'resnet'}, default=None
        dense layers of the widths ``hidden``, convolutional encoders, or residual encoders and decoder (App. B,
        CIFAR-10). None: conv for grey images, else mlp
    channels : tuple of int, default=None
        of the convolutions of stride 2 (conv), or of the blocks at each resolution (resnet). None: (16, 32);
        resnet with protocol=default: (8, 16, 32)
    blocks : int, default=None
        residual blocks at the last resolution (conv), or at each but the first, which has one (resnet). None: 1;
        resnet with protocol=default: 2
    precision : {'float32', 'bfloat16', 'auto'}, default=None
        of matrix products, while parameters are float32; auto: bfloat16 if the machine has instructions for it. None:
        auto for images, else float32
    classifier_channels : int, default=None
        channels of the first of the nine layers of q(z | o) with resnet. None: 32;
        protocol=default: 16
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
        epochs in which the networks learn the initial clusters. None: 50, more for small tables; 20 or fewer
        for images
    agree_epochs : int, default=None
        epochs in which q(z | o) then learns the same cluster for two views of an image. None: 0, for
        grey images as many as 10 on MNIST
    hold : bool, default=None
        leave q(z | o) as it is after the initialisation. None: False
    augmentation : {'none', 'affine'}, default=None
        slightly transformed copies of each image, of the same cluster: rotated, sheared, scaled and shifted.
        None: affine for grey images, else none
    epochs : int, default=None
        0: only the initialisation. None: 20 for up to 10,000 items; protocol=paper: 200
    batch_size : int, default=None
        items without answers in a training step. None: 128
    learning_rate : float, default=None
        initial learning rate of the networks. None: .001, for coloured images with architecture=conv or resnet .0001
    final_rate : float, default=None
        final step sizes as a share of the initial ones; they decrease along a cosine. None: .05; protocol=paper: 1
    clip : float, default=None
        maximal norm of a restart's gradient, per item in nats; None: no limit
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
    Irises, and three people who were asked about 100 pairs each. Two are always right, the third guesses.

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import check_random_state
    >>> from semicrowd import SCDC
    >>> X, kind = load_iris(return_X_y=True)
    >>> random = check_random_state(0)
    >>> i = random.randint(150, size=300)
    >>> j = (i + random.randint(1, 150, size=300)) % 150
    >>> person = np.arange(300) % 3
    >>> same = np.where(person == 2, random.random_sample(300) < 0.5, kind[i] == kind[j])
    >>> answers = np.column_stack([i, j, person, same])

    The setting selects a fast initialisation; by default several are compared, which takes half a minute. The weight of
    an annotator is logit(sensitivity) + logit(specificity), in nats; it is close to 0 for an annotator who guesses.

    >>> model = SCDC(init="mixture").fit(X, pairs=answers)
    >>> model.workers_["pairs"].tolist()
    [100, 100, 100]
    >>> (model.workers_["weight"] > 2).tolist()
    [True, True, False]

    New items are assigned to clusters from their features, or also from answers about them by annotators of the fit.

    >>> bool((model.predict(X[:50]) == model.labels_[:50]).mean() > 0.9)
    True
    >>> model.predict_proba(X[:2], pairs=[[0, 1, 0, 1]]).shape == (2, len(model.cluster_weights_))
    True
    """

    name: ClassVar[str] = "scdc"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "location_scale": [Interval(Real, 0, None, closed="left"), None],
        "covariance": [StrOptions({"full", "diagonal"}), None],
        "initial_quality": [StrOptions({"corrected", "paper", "released"}), None],
        "drop_mass": [Interval(Real, 0, 1, closed="left"), None],
        "classifier_channels": [COUNT, None],
        "agree_epochs": [COUNT_OR_0, None],
        "hold": ["boolean", None],
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
        initial_quality: str | None = None,
        drop_mass: float | None = None,
        location_scale: float | None = None,
        covariance: str | None = None,
        initial_weights: str | None = None,
        binary_draws: bool | None = None,
        architecture: str | None = None,
        channels: tuple[int, ...] | None = None,
        blocks: int | None = None,
        precision: str | None = None,
        classifier_channels: int | None = None,
        init: str | None = None,
        init_epochs: int | None = None,
        init_learning_rate: float | None = None,
        teach_epochs: int | None = None,
        agree_epochs: int | None = None,
        hold: bool | None = None,
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
        self.initial_quality = initial_quality
        self.drop_mass = drop_mass
        self.location_scale = location_scale
        self.covariance = covariance
        self.initial_weights = initial_weights
        self.binary_draws = binary_draws
        self.architecture = architecture
        self.channels = channels
        self.blocks = blocks
        self.precision = precision
        self.classifier_channels = classifier_channels
        self.init = init
        self.init_epochs = init_epochs
        self.init_learning_rate = init_learning_rate
        self.teach_epochs = teach_epochs
        self.agree_epochs = agree_epochs
        self.hold = hold
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
