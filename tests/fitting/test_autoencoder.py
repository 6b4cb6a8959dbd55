"""The stacked autoencoder: its layers, its training, and what the training says of itself."""

from itertools import pairwise

import numpy as np
import torch
from sklearn.decomposition import PCA

from semicrowd.fitting.autoencoder import CODE, HIDDEN, Autoencoder, train
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
