"""What each piece adds: the table of docs/BENCHMARKS.md is that of the fits in recorded/pieces.csv."""

from pathlib import Path

import pandas as pd

ROOT = Path(__file__).parents[2]
METHODS = ["scdc", "scdc[start.hold=false]", "bayes", "scdc[start.kind=cold]"]


def test_differences_are_those_of_the_recorded_fits() -> None:
    fits = pd.read_csv(ROOT / "recorded" / "pieces.csv")
    found = fits.pivot_table(index=["data", "seed"], columns="method", values="nmi").dropna()
    differences = found[METHODS].sub(found["cotrain"], axis=0)
    page = (ROOT / "docs" / "BENCHMARKS.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith("| all, less co-training |"))
    for mean, error in zip(differences.mean(), differences.sem(), strict=True):
        said = f"{mean:+.3f} ± {error:.3f}".replace("0.", ".").replace("-", "−")
        assert f"**{said}**" in row
    assert f"seeds for all, {len(found)} fits each" in page
