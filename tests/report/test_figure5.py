"""Fig. 5: the runs of Fig. 3b that it shows, and the paper's numbers on CIFAR-10."""

from pathlib import Path

from semicrowd.report import figure5

from .conftest import collected, on_face


def test_deep_mcvc_stands_beside_the_others_and_cifar_is_said_to_be_missing(tmp_path: Path) -> None:
    runs = collected(
        face_100_deep_mcvc=on_face("deep_mcvc", "face_100", {2000: [0.63, 0.65]}),
        face_100_mcvc=on_face("mcvc", "face_100", {2000: [0.56, 0.57]}),
        face_100_cspa=on_face("cspa", "face_100", {2000: [0.4]}),
    )
    result = figure5.build(runs, tmp_path)
    ours = {cell.cell: round(cell.ours.mean, 3) for cell in result.cells if cell.ours}
    assert ours == {"deep MCVC, 2000 answers each": 0.64, "MCVC, 2000 answers each": 0.565}
    printed = {cell.cell: (cell.paper.value, cell.remark) for cell in result.cells if cell.paper}
    assert {name: value for name, (value, _) in printed.items()} == {
        "deep MCVC on CIFAR-10, best of 5 runs": 0.44,
        "SCDC on CIFAR-10": 0.55,
    }
    assert all(remark.startswith("data not available here") for _, remark in printed.values())
    assert result.status == "partly done"
    assert (tmp_path / result.images[0].path).is_file()
    assert "Not there: SCDC, BayesSCDC." in result.images[0].caption
