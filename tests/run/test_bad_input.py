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
    ("arguments", "said"),
    [
        ("data=mnsit", ["data=mnsit", "nearest is mnist"]),
        ("data=cifar10 data.pca=0", ["data.pca=0", "1 to 3072"]),
        ("annotations=two-coin", ["annotations=two-coin", "nearest is two_coin"]),
        ("annotations=crowd", ["annotations=crowd", "data=mnist"]),
        ("annotations=file", ["annotations.path"]),
        ("annotations=file annotations.path=nowhere.csv", ["nowhere.csv", "No such file"]),
        ("data=table", ["data.path"]),
        ("seed=1,2", ["seed=1,2", "-m"]),
        ("model.K=1", ["model.K=1", "from 2"]),
        ("model.K=501", ["model.K=501", "500 items"]),
        ("epochs=-3", ["epochs=-3"]),
        ("epoch=3", ["epoch=3", "nearest is epochs"]),
        ("model.k=3", ["model.k", "nearest is model.K"]),
        ("bayes", ["bayes", "<setting>=<value>"]),
        ("seed=[", ["seed=["]),
        ("model=null", ["null"]),
        ("start=warm", ["start=warm", "no such start", "cells"]),
        ("logger=mlflow logger.uri=ftp://nowhere", ["logger.uri=ftp://nowhere", "sqlite:///"]),
        ("trainer.devices=99 trainer=ddp trainer.accelerator=cpu", ["trainer.devices=99", "this machine has"]),
        ("hydra.run.dir=items.csv/run", ["items.csv/run", "Not a directory"]),
        ("-m foo=1,2", ["foo"]),
        ("~data", ["~data", "data=…"]),
        ("data=table data.path=a=b.csv", ["data.path=a=b.csv", """'data.path="a=b.csv"'"""]),
        ("data=table data.path=a,b.csv", ["data.path=a,b.csv", """'data.path="a,b.csv"'"""]),
        ("data=table data.path=items.csv data.ignore=[size,läuft]", ["data.ignore=[size,läuft]", ""","läuft"]'"""]),
    ],
)
def test_arguments(train: Command, tmp_path: Path, table: Path, arguments: str, said: list[str]) -> None:
    refused(train(*arguments.split()), *said)
    assert sorted(tmp_path.iterdir()) == [table]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (["0,1,ann,1", "0,40,ann,1"], ["line 3, column j", "40", "0 to 39"]),
        (["0,1,ann,maybe"], ["line 2, column label", "maybe"]),
        ([], ["no answers"]),
    ],
)
def test_answers(train: Command, tmp_path: Path, table: Path, rows: list[str], said: list[str]) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["i,j,worker,label", *rows]) + "\n")
    done = train("data=table", f"data.path={table}", "annotations=file", f"annotations.path={path}")
    refused(done, "answers.csv", *said)
    assert sorted(tmp_path.iterdir()) == [path, table]


def test_an_answers_file_without_a_byte(train: Command, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.touch()
    refused(train("annotations=file", f"annotations.path={path}"), "answers.csv", "empty")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("value", ["inf", "one"])
def test_features_that_are_no_numbers(train: Command, tmp_path: Path, value: str) -> None:
    path = tmp_path / "items.csv"
    path.write_text(f"x,y\n1,2\n3,{value}\n5,6\n")
    refused(train("data=table", f"data.path={path}"), "items.csv", "column y", "number")
    assert list(tmp_path.iterdir()) == [path]


def test_an_array_with_objects_is_not_unpickled(train: Command, tmp_path: Path) -> None:
    path = tmp_path / "items.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    refused(train("data=table", f"data.path={path}"), "items.npy")
    assert list(tmp_path.iterdir()) == [path]


def test_a_truncated_mnist_file(train: Command, tmp_path: Path) -> None:
    raw = tmp_path / "data" / "mnist" / "MNIST" / "raw"
    raw.mkdir(parents=True)
    (raw / "train-images-idx3-ubyte").write_bytes(bytes(1000))
    refused(train("data=mnist"), "train-images-idx3-ubyte", "1000 bytes instead of 47040016", "SEMICROWD_MIRROR")
    assert (raw / "train-images-idx3-ubyte").stat().st_size == 1000
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("size", "said"), [(1000, "1000 bytes instead of 30730000"), (30_730_000, "wrong md5, so its content")]
)
def test_a_cifar10_batch_that_is_not_the_published_one(train: Command, tmp_path: Path, size: int, said: str) -> None:
    batch = tmp_path / "data" / "cifar10" / "cifar-10-batches-bin" / "data_batch_1.bin"
    batch.parent.mkdir(parents=True)
    with batch.open("wb") as file:
        file.truncate(size)
    refused(train("data=cifar10"), "data_batch_1.bin", said, "cifar-10-binary.tar.gz")
    assert not (tmp_path / "runs").exists()


def test_an_empty_folder_of_the_users_stays(train: Command, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    refused(train("epochs=-1", "hydra.run.dir=mine"), "epochs=-1")
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]
