"""`make size`: lines and files of src and tests, words of the documentation, by folder; counts what git tracks."""

import subprocess
from collections import Counter
from pathlib import Path, PurePath


def folder(path: str, depth: int) -> str:
    return "/".join(PurePath(path).parts[:-1][:depth]) or "(root)"


def main() -> None:
    paths = [p for p in subprocess.check_output(["git", "ls-files"], text=True).splitlines() if Path(p).is_file()]
    for title, unit, of, depth in (
        ("src", "lines", [p for p in paths if p.startswith("src/") and p.endswith(".py")], 3),
        ("tests", "lines", [p for p in paths if p.startswith("tests/") and p.endswith(".py")], 2),
        ("docs, README, CHANGELOG", "words", [p for p in paths if (p.startswith("docs/") and p.endswith(".md"))
                                               or p in ("README.md", "CHANGELOG.md")], 2),
    ):  # fmt: skip
        sizes, files = Counter[str](), Counter[str]()
        for path in of:
            text = Path(path).read_text(encoding="utf-8")
            sizes[folder(path, depth)] += len(text.splitlines() if unit == "lines" else text.split())
            files[folder(path, depth)] += 1
        print(f"\n{title}: {sum(sizes.values()):,} {unit} in {sum(files.values())} files")
        for name, size in sizes.most_common():
            print(f"  {size:7,} {files[name]:4}  {name}")


if __name__ == "__main__":
    main()
