"""Bad input through the command line: one clear line, exit code 2, nothing left behind."""

from pathlib import Path
from subprocess import CompletedProcess

import numpy as np
import pytest

from .conftest import Command


def refused(done: "CompletedProcess[str]", *said: str) -> None:
    """Exit code 2, exactly one line, which says all of ``said``."""
    assert done.returncode == 2, done.stderr
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    assert not done.stdout
    for text in said:
        assert text in lines[0]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("data=mnsit", "mnsit"),
        ("data=cifar10 data.pca=0", "data.pca=0"),
        ("annotations=two-coin", "two-coin"),
        ("annotations=crowd", "annotations=crowd"),
        ("annotations=file", "annotations.path"),
        ("annotations=file annotations.path=nowhere.csv", "nowhere.csv"),
        ("data=table", "data.path"),
        ("seed=1,2", "seed=1,2"),
        ("model.K=1", "model.K=1"),
        ("model.K=501", "model.K=501"),
        ("epochs=-3", "epochs=-3"),
        ("epochs=-1 hydra.run.dir=mine", "epochs=-1"),
        ("epoch=3", "epoch"),
        ("model.k=3", "model.k"),
        ("bayes", "bayes"),
        ("seed=[", "seed=["),
        ("model=null", "Config group"),
        ("start=warm", "warm"),
        ("logger=mlflow logger.uri=https://ann:secret@example.org", "logger.uri"),
        ("logger=none logger.uri=https://ann:secret@example.org", "logger.uri"),
        ("trainer.devices=99 trainer=ddp trainer.accelerator=cpu", "trainer.devices=99"),
        ("data=table data.path=a=b.csv", "data.path=a=b.csv"),
        ("data=table data.path=a,b.csv", "data.path=a,b.csv"),
    ],
)
def test_arguments(train: Command, tmp_path: Path, table: Path, arguments: str, named: str) -> None:
    (tmp_path / "mine").mkdir()
    done = train(*arguments.split())
    refused(done, named)
    assert "secret" not in done.stderr
    assert sorted(tmp_path.iterdir()) == [table, tmp_path / "mine"]
    assert not list((tmp_path / "mine").iterdir())


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("answers.csv", "i,j,worker,label\n0,1,ann,1\n0,40,ann,1\n", "40"),
        ("answers.csv", "i,j,worker,label\n0,1,ann,maybe\n", "maybe"),
        ("answers.csv", "i,j,worker,label\n", "answers.csv"),
        ("answers.csv", "", "answers.csv"),
        ("items.csv", "x,y\n1,2\n3,inf\n5,6\n", "y"),
    ],
)
def test_files(train: Command, tmp_path: Path, table: Path, name: str, content: str, named: str) -> None:
    (tmp_path / name).write_text(content)
    before = sorted(tmp_path.iterdir())
    answers = ["annotations=file", "annotations.path=answers.csv"] if name == "answers.csv" else []
    refused(train("data=table", f"data.path={table}", *answers), name, named)
    assert sorted(tmp_path.iterdir()) == before


def test_an_array_with_objects_is_not_unpickled(train: Command, tmp_path: Path) -> None:
    path = tmp_path / "items.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refused(train("data=table", f"data.path={path}"), "items.npy")
    assert list(tmp_path.iterdir()) == [path]


def test_a_truncated_mnist_file(train: Command, tmp_path: Path) -> None:
    raw = tmp_path / "data" / "mnist" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    (raw / "train-images-idx3-ubyte").write_bytes(bytes(1000))
    refused(train("data=mnist"), "train-images-idx3-ubyte")
    assert (raw / "train-images-idx3-ubyte").stat().st_size == 1000
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("size", [1000, 30_730_000])
def test_a_cifar10_batch_that_is_not_the_published_one(train: Command, tmp_path: Path, size: int) -> None:
    batch = tmp_path / "data" / "cifar10" / "cifar-10-batches-bin" / "data_batch_1.bin"
    batch.parent.mkdir(parents=True)
    with batch.open("wb") as file:
        file.truncate(size)
    refused(train("data=cifar10"), "data_batch_1.bin")
    assert not (tmp_path / "runs").exists()
