"""The accuracy on MNIST against the number of the crowd's tasks."""

from pathlib import Path

from matplotlib.figure import Figure

from semicrowd.figures.style import ACCENT, MAIN, new_figure, save, tidy
from semicrowd.report.cells import Cell, PaperValue, Summary, summarise
from semicrowd.report.exhibits import Exhibit, Image
from semicrowd.report.experiments import Measure, cells_of_experiment, metric, remarks_on
from semicrowd.report.runs import Collected, Run

#: Number of the crowd's 91 tasks → the experiment with them.
TASKS = {
    0: "mnist_bayes_none",
    5: "mnist_tasks_5",
    10: "mnist_tasks_10",
    20: "mnist_tasks_20",
    45: "mnist_tasks_45",
    91: "mnist_bayes_crowd",
}
MEASURES: dict[str, Measure] = {
    "accuracy": metric("test/acc"),
    "nmi, arithmetic": metric("test/nmi"),
    "clusters": metric("clusters/used"),
}
IMAGE = Path("figures/mnist-tasks.png")
TEXT = (
    "The last rows and the figure take 5, 10, 20 and 45 of the crowd's 91 tasks, drawn by the seed; 0 tasks is "
    "BayesSCDC without answers, 91 is BayesSCDC with all, all by protocol semicrowd; up to 31 tasks (20,000 answers) "
    "with views."
)
#: Where the paper has a number: tasks → row of its table.
_PAPER = {0: "BayesSCDC, without", 91: "BayesSCDC, with"}


def cells(collected: Collected, exhibit: Exhibit) -> tuple[Cell, ...]:
    """A row for each number of tasks."""
    return tuple(
        cell
        for tasks, experiment in TASKS.items()
        for cell in cells_of_experiment(
            collected, experiment, exhibit, "", MEASURES, with_answers=tasks > 0,
            label=f"BayesSCDC, {tasks} tasks",
        )
    )  # fmt: skip


def images(collected: Collected, exhibit: Exhibit, folder: Path) -> tuple[Image, ...]:
    """The curve, drawn into ``folder``; none before two of its points are there."""
    found = {
        tasks: summary
        for tasks, experiment in TASKS.items()
        if (summary := _accuracy(collected.finished(experiment))) is not None
    }
    if len(found) < 2:
        return ()
    paper = {tasks: exhibit.value(row, "accuracy") for tasks, row in _PAPER.items()}
    save(draw(found, paper), folder / IMAGE)
    missing = [tasks for tasks in TASKS if tasks not in found]
    simulated = [tasks for tasks in found if "simulated answers" in remarks_on(collected, TASKS[tasks])]
    caption = (
        "MNIST: accuracy of BayesSCDC on the test images against the number of tasks, "
        f"{_runs(found)}; the paper's two numbers with their standard deviations."
        + (f" Not there: {_list(missing)} tasks." if missing else "")
        + (f" Simulated answers at {_list(simulated)} tasks." if simulated else "")
    )
    return (Image(IMAGE, caption),)


def _accuracy(runs: list[Run]) -> Summary | None:
    return summarise([run.metrics["test/acc"] for run in runs], [run.seed for run in runs])


def _list(tasks: list[int]) -> str:
    return ", ".join(map(str, tasks))


def _runs(found: dict[int, Summary]) -> str:
    most = max(summary.num_runs for summary in found.values())
    return "one run each" if most == 1 else f"mean and standard deviation over up to {most} runs"


def draw(found: dict[int, Summary], paper: dict[int, PaperValue]) -> Figure:
    """Accuracy by number of tasks, ours and the paper's."""
    figure = new_figure(7.2, 4.4, "MNIST, BayesSCDC: accuracy against the number of tasks")
    axes = figure.subplots()
    summaries = [found[tasks] for tasks in sorted(found)]
    axes.errorbar(
        sorted(found), [s.mean for s in summaries], [s.sd or 0 for s in summaries], fmt="o-", ms=5, lw=1.6, capsize=3,
        color=MAIN, label="here, protocol semicrowd",
    )  # fmt: skip
    axes.errorbar(
        list(paper), [value.value for value in paper.values()], [value.sd or 0 for value in paper.values()], fmt="D",
        ms=5, lw=1.2, capsize=3, color=ACCENT, mfc="none", label="the paper",
    )  # fmt: skip
    axes.set_xticks(list(TASKS))
    tidy(axes, "", "tasks of 36 images (0: no answers, with views)", "accuracy, test images")
    axes.legend(fontsize=9, frameon=False, loc="lower right")
    return figure
