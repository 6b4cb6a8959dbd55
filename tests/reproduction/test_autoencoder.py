"""Stage ``autoencoder``: its layers, its training, what it keeps for runs, and what the decoder takes back."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

from reproduction.stages.autoencoder import CODE, HIDDEN, Autoencoder, decoded, make, train
from semicrowd.data.benchmark import load_benchmark
from semicrowd.data.encoded import TRAINED, load_encoded, place, to_encode, to_train
from semicrowd.errors import UserError
from semicrowd.random import torch_stream


def small(seed: int = 0) -> Autoencoder:
    return Autoencoder(20, torch_stream(seed, "networks"), hidden=(24, 24, 48), code=4)


def surface(items: int) -> torch.Tensor:
    """Points of a bent surface in 20 dimensions."""
    rng = np.random.default_rng(0)
    along = rng.uniform(-1, 1, (items, 2))
    bent = np.column_stack([along, along**2, np.sin(3 * along)])
    return torch.from_numpy(bent @ rng.normal(size=(6, 20)) / 3).float()


def test_layers_pair_each_with_its_mirror() -> None:
    net = Autoencoder(30, torch_stream(0, "networks"))
    shapes = [(tuple(a.weight.shape[1:]), tuple(b.weight.shape[1:])) for a, b in net.layers()]
    widths = [30, *HIDDEN, CODE]
    assert shapes == [((i, o), (o, i)) for i, o in pairwise(widths)]
    by_hand = items = torch.rand(7, 30)
    for number, (inward, _) in enumerate(net.layers()):
        by_hand = inward(by_hand)[0]
        by_hand = by_hand.relu() if number < 3 else by_hand
    torch.testing.assert_close(net.encode(items), by_hand)
    assert net.decode(by_hand).shape == (7, 30)


def test_training_beats_two_principal_components_on_items_that_it_has_not_seen() -> None:
    items, net = surface(1500), small()
    found = list(train(net, items, 50, 400, 4, 0))
    assert [one.steps for one in found] == [100, 200, 300, 400]
    assert found[-1].held_out_error < found[0].held_out_error
    two = PCA(2).fit(items)
    linear = float(((two.inverse_transform(two.transform(items)) - items.numpy()) ** 2).mean())
    assert found[-1].held_out_error < linear / 1.5
    with torch.no_grad():
        everywhere = float((net.decode(net.encode(items)) - items).square().mean())
    assert found[-1].error < 1.5 * everywhere
    assert everywhere < 1.5 * found[-1].held_out_error


def test_same_seed_same_codes_and_another_seed_others() -> None:
    items = surface(150)

    def codes(seed: int) -> torch.Tensor:
        net = small()
        list(train(net, items, 2, 2, 1, seed))
        return net.encode(items).detach()

    assert torch.equal(codes(0), codes(0))
    assert not torch.allclose(codes(0), codes(1))


def test_pretrained_layers_begin_with_a_smaller_error() -> None:
    items = surface(600)
    begun, cold = (next(train(small(), items, steps, 5, 1, 0)).error for steps in (150, 0))
    assert begun < 0.8 * cold


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A data root with 60 made windows in the place of UCI's."""
    folder = tmp_path / "har"
    folder.mkdir()
    rng = np.random.default_rng(0)
    (folder / "activity_labels.txt").write_text("1 UP\n2 DOWN\n")
    for part, count in (("train", 40), ("test", 20)):
        numbers = rng.integers(1, 3, count)
        np.savetxt(folder / f"X_{part}.txt", rng.normal(size=(count, 6)) * 5 + numbers[:, None])
        np.savetxt(folder / f"y_{part}.txt", numbers, fmt="%d")
    return tmp_path


def test_codes_at_four_stages_are_standardised_and_the_decoder_takes_them_back(root: Path) -> None:
    make("har", root, 2, 40)
    data = [load_encoded(root=root, which="har", trained=trained) for trained in TRAINED]
    labels = load_benchmark(which="har", root=root).labels
    assert labels is not None
    for one in data:
        assert one.features.shape == (60, CODE)
        np.testing.assert_allclose(one.features.mean(0), 0, atol=1e-5)
        np.testing.assert_allclose(one.features.std(0), 1, atol=1e-4)
        assert one.name == "har"
        assert one.labels is not None
        assert np.array_equal(one.labels, labels)
    assert not np.allclose(data[0].features, data[-1].features)
    training = np.genfromtxt(root / "encoded" / "har" / "training.csv", delimiter=",", names=True)
    assert training["steps"].tolist() == [10, 20, 30, 40]
    # What comes back is as near as was noted of the items that were not trained on, in the units that networks saw.
    raw = load_benchmark(which="har", root=root).features
    back = decoded(data[-1].features, "har", root)
    _, scale = to_train(to_encode("har", root))
    assert np.square((back - raw) / scale).mean() < training["held_out_error"][-1]
    assert np.square(back - raw).mean() < 0.9 * raw.var(0).mean()


def test_without_codes_or_with_those_of_others_the_error_says_what_makes_them(root: Path) -> None:
    with pytest.raises(UserError, match=r"codes-100\.npz"):
        load_encoded(root=root, which="har")
    make("har", root, 1, 4)
    (root / "har" / "y_test.txt").write_text("1\n" * 20)
    with pytest.raises(UserError, match="har"):
        load_encoded(root=root, which="har")
    place(root, "har", 100).write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"codes-100\.npz"):
        load_encoded(root=root, which="har")
