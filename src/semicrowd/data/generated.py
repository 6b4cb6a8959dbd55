"""Generated data: points of the plane, a walk. No file is read."""

from hashlib import sha256

import numpy as np
from sklearn.utils._param_validation import StrOptions, validate_params

from semicrowd.data.dataset import COUNT, SEED, Dataset
from semicrowd.random import stream


def hash_of(features: np.ndarray, labels: np.ndarray) -> str:
    """sha256 of generated data, which have no file."""
    return sha256(features.tobytes() + labels.tobytes()).hexdigest()


#: Standard deviation along the radius, before scaling (all four numbers: Johnson et al. 2016).
_RADIAL_SD = 0.3
#: Standard deviation across the radius, before scaling.
_TANGENTIAL_SD = 0.05
#: Angle of the bend at radius r, in radians, divided by exp(r).
_TWIST = 0.25
#: Factor of the coordinates.
_SCALE = 10.0


@validate_params(
    {"num_classes": COUNT, "points_per_class": COUNT, "data_seed": SEED}, prefer_skip_nested_validation=False
)
def load_pinwheel(*, num_classes: int = 5, points_per_class: int = 100, data_seed: int = 0) -> Dataset:
    """Draw a pinwheel: rotated, bent arms in the plane (Johnson et al. 2016, SVAE's synthetic example).

    A point of an arm is Gaussian around radius 1 before scaling, with a small standard deviation across the
    radius, and turned by an angle that grows with the radius. The arms lie evenly around 0, so nothing is centred. The
    order of the items is random.

    Parameters
    ----------
    num_classes : number of arms
    points_per_class : points of each arm
    data_seed : of the points; apart from the run's seed, so that all seeds of a sweep have the same points

    Returns
    -------
    Dataset
        ``features`` [num_classes · points_per_class, 2], ``labels`` the arm.
    """
    rng = stream(data_seed, "data")
    labels = rng.permutation(np.repeat(np.arange(num_classes), points_per_class))
    radius = rng.normal(1.0, _RADIAL_SD, len(labels))
    across = rng.normal(0.0, _TANGENTIAL_SD, len(labels))
    angle = 2 * np.pi * labels / num_classes + _TWIST * np.exp(radius)
    point = _SCALE * (radius + 1j * across) * np.exp(-1j * angle)
    features = np.stack([point.real, point.imag], axis=1).astype(np.float32)
    hashes = {"pinwheel (generated)": hash_of(features, labels)}
    return Dataset("pinwheel", features, labels, hashes=hashes, num_classes=num_classes)


#: Of the three Gaussians: centres, angles of the long axes in radians, standard deviations along them and across.
_CENTRES = np.array([[0.0, 0.0], [3.0, 3.0], [3.5, -3.0]])
_ANGLES = np.array([0.3, 2.2, 1.2])
_ALONG = np.array([1.6, 1.6, 1.4])
_ACROSS = np.array([0.35, 0.35, 0.4])
#: Standard deviation of the moons' points, whose radius is 1.
_NOISE = 0.07


@validate_params(
    {"which": [StrOptions({"gaussians", "moons"})], "points_per_class": COUNT, "data_seed": SEED},
    prefer_skip_nested_validation=False,
)
def load_shapes(*, which: str = "moons", points_per_class: int = 500, data_seed: int = 0) -> Dataset:
    """Draw three Gaussians with long axes of their own, or two half circles in each other (Li et al. 2022, Fig. 1).

    The paper gives no numbers.

    Parameters
    ----------
    which : gaussians or moons
    points_per_class : points of each cluster
    data_seed : of the points, apart from the run's seed

    Returns
    -------
    Dataset
        ``features`` [classes · points_per_class, 2], the items in random order.
    """
    rng, number = stream(data_seed, "shapes"), points_per_class
    if which == "moons":
        from sklearn.datasets import make_moons  # half a second, which the other sets do without

        state = np.random.RandomState(rng.integers(2**31))
        points, labels = make_moons(2 * number, noise=_NOISE, random_state=state)
    else:
        labels = rng.permutation(np.repeat(np.arange(len(_CENTRES)), number))
        axes = np.exp(1j * _ANGLES[labels]) * (_ALONG[labels] * rng.normal(size=len(labels))
                                               + 1j * _ACROSS[labels] * rng.normal(size=len(labels)))  # fmt: skip
        points = _CENTRES[labels] + np.stack([axes.real, axes.imag], 1)
    features, labels = points.astype(np.float32), labels.astype(np.int64)
    hashes = {f"{which} (generated)": hash_of(features, labels)}
    return Dataset(which, features, labels, hashes=hashes, num_classes=int(labels.max()) + 1)


#: Links of a chain, and items of a link.
_LINKS, _ITEMS_OF_LINK = 5, 30
#: Distances of neighbouring links and of the chains, and the standard deviation of a link.
_STEP, _APART, _SD = 2.0, 3.0, 0.5


def draw_chains() -> tuple[np.ndarray, np.ndarray]:
    """Features [300, 2] and chains [300]: five round Gaussians in a row, and five more beside them.

    Nguyen et al. 2017, Fig. 2, draw them and give no numbers. Here a link has standard deviation .5, its neighbours in
    the chain are 2 away and the other chain 3. Everything is centred: a hyperplane through the origin lies between the
    chains. The items are always the same.
    """
    rng = stream(0, "chains")
    chain = np.repeat(np.arange(2), _LINKS * _ITEMS_OF_LINK)
    link = np.tile(np.repeat(np.arange(_LINKS), _ITEMS_OF_LINK), 2)
    centre = np.stack([_STEP * (link - (_LINKS - 1) / 2), _APART * (chain - 0.5)], axis=1)
    return centre + _SD * rng.normal(size=centre.shape), chain


#: Number of rooms of the generated walks.
_ROOMS = 6
#: Number of access points.
_POINTS = 40
#: Number of walks.
_WALKS = 3
#: Number of scans of a walk.
_SCANS = 200
#: Probability of staying in the room until the next scan.
_STAY = 0.95
#: Mean number of signals in a scan.
_SIGNALS = 12


def draw_walk(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Three walks of 200 scans through six rooms: counts [600, 40], rooms [600], walks [600].

    The first room of a walk is drawn uniformly; the next scan is in the same room with probability .95, else in one of
    the others, drawn uniformly. Each room has probabilities of the 40 access points, drawn from a Dirichlet
    distribution with parameter .2. A scan has 1 + Poisson(11) signals, each of an access
    point drawn with these probabilities.
    """
    shares = rng.dirichlet(np.full(_POINTS, 0.2), _ROOMS)
    room = np.zeros((_WALKS, _SCANS), np.int64)
    room[:, 0] = rng.integers(_ROOMS, size=_WALKS)
    for scan in range(1, _SCANS):
        moves = rng.random(_WALKS) > _STAY
        room[:, scan] = (room[:, scan - 1] + moves * rng.integers(1, _ROOMS, size=_WALKS)) % _ROOMS
    labels = room.ravel()
    counts = rng.multinomial(1 + rng.poisson(_SIGNALS - 1, len(labels)), shares[labels])
    return counts.astype(np.float64), labels, np.repeat(np.arange(_WALKS), _SCANS)
