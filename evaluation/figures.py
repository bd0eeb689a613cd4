# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/evaluation.md: the same input gives the same bytes."""

import textwrap

import matplotlib

matplotlib.use("Agg")
matplotlib.rcParams.update({
    "svg.hashsalt": "chokepoint", "svg.fonttype": "none", "font.family": "sans-serif",
    "font.size": 9, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "figure.facecolor": "white", "savefig.facecolor": "white", "legend.frameon": False,
    "lines.linewidth": 1.6, "path.simplify": True})

import numpy  # noqa: E402
from matplotlib import pyplot  # noqa: E402
from matplotlib.ticker import MaxNLocator  # noqa: E402

from causes import (APPLICATION, BOTTLENECK, CAUSES, MIXED, RECEIVER_WINDOW,  # noqa: E402
                    SEND_BUFFER, SHARED, TRANSPORT, UNKNOWN, UNSHARED)
from matching import RIGHT, UNSURE, WRONG  # noqa: E402
from scores import VERDICTS  # noqa: E402

# M. Okabe and K. Ito's palette, which the colour-blind can tell apart too.
COLOURS = {UNSHARED: "#0072B2", SHARED: "#E69F00", RECEIVER_WINDOW: "#009E73",
           SEND_BUFFER: "#CC79A7", APPLICATION: "#56B4E9", TRANSPORT: "#D55E00"}
STYLES = {UNSHARED: "-", SHARED: "--", RECEIVER_WINDOW: "-.", SEND_BUFFER: ":",
          APPLICATION: (0, (5, 1)), TRANSPORT: (0, (3, 1, 1, 1))}
OUTCOME_COLOURS = {RIGHT: "#009E73", UNSURE: "#BBBBBB", WRONG: "#D55E00"}
SERIES_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
NAMES = {UNSHARED: "unshared", SHARED: "shared", RECEIVER_WINDOW: "receiver\nwindow",
         SEND_BUFFER: "send\nbuffer", APPLICATION: "appli-\ncation", TRANSPORT: "trans-\nport",
         BOTTLENECK: "bottle-\nneck", MIXED: "mixed", UNKNOWN: "un-\nknown"}
POINTS = 150
# Between panels, so that the outer labels of two axes stay apart.
WIDE = 0.18
# Of a bin of confidence: with fewer the share that was right says nothing.
LEAST_ROWS = 10


def name_of(cause):
    return NAMES[cause].replace("-\n", "").replace("\n", " ")


def save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)
    # Matplotlib ends lines with blanks.
    path.write_text("".join(line.rstrip() + "\n" for line in path.read_text().splitlines()))


def distribution(axes, pairs, **style):
    """CDF of (weight, value)."""
    if not pairs:
        return
    ranked = sorted(pairs, key=lambda pair: pair[1])
    values = numpy.array([value for _, value in ranked])
    shares = numpy.cumsum([weight for weight, _ in ranked])
    shares /= shares[-1]
    if len(values) > POINTS:
        kept = numpy.unique(numpy.searchsorted(shares, numpy.linspace(0, 1, POINTS))
                            .clip(0, len(values) - 1))
        values, shares = values[kept], shares[kept]
    axes.step(values, shares, where="post", **style)


def confusion_panels(path, panels):
    """`panels`: (title, {(truth, verdict): weight})."""
    figure, grid = pyplot.subplots(2, 2, figsize=(11, 7.4), sharex=True, sharey=True)
    for axes, (title, weights) in zip(grid.flat, panels):
        matrix = numpy.array([[weights.get((truth, verdict), 0.0) for verdict in VERDICTS]
                              for truth in CAUSES])
        totals = matrix.sum(axis=1, keepdims=True)
        shares = numpy.divide(matrix, totals, out=numpy.zeros_like(matrix), where=totals > 0)
        axes.pcolormesh(shares, cmap="Blues", vmin=0, vmax=1, edgecolors="white", linewidth=1)
        axes.set_ylim(len(CAUSES), 0)
        for i, j in numpy.ndindex(shares.shape):
            if shares[i, j] >= 0.0005:
                axes.text(j + 0.5, i + 0.5, f"{100 * shares[i, j]:.1f}", ha="center", va="center",
                          fontsize=8, color="white" if shares[i, j] > 0.6 else "black")
        axes.set_xticks(numpy.arange(len(VERDICTS)) + 0.5, [NAMES[name] for name in VERDICTS],
                        fontsize=7)
        axes.set_yticks(numpy.arange(len(CAUSES)) + 0.5, [NAMES[name] for name in CAUSES],
                        fontsize=7)
        axes.grid(False)
        axes.set_title(title, fontsize=9)
    for axes in grid[:, 0]:
        axes.set_ylabel("truth")
    for axes in grid[-1]:
        axes.set_xlabel("verdict, percent of the truth's row")
    save(figure, path)


def distributions(path, panels, ylabel="share"):
    """`panels`: (title, xlabel, [(label, pairs, style)], (x low, x high), scale, marks)."""
    figure, grid = pyplot.subplots(1, len(panels), figsize=(min(11, 4.2 * len(panels) + 0.4), 3.1),
                                   sharey=True, squeeze=False, gridspec_kw={"wspace": WIDE})
    for axes, (title, xlabel, series, limits, scale, marks) in zip(grid.flat, panels):
        for label, pairs, style in series:
            distribution(axes, pairs, label=label, **style)
        for mark in marks:
            axes.axvline(mark, color="#555555", linewidth=0.9, linestyle=":")
        axes.set_xscale(scale)
        axes.set_xlim(*limits)
        if scale == "linear":
            axes.xaxis.set_major_locator(MaxNLocator(4, steps=(1, 2, 5, 10)))
        axes.set_ylim(0, 1.005)
        axes.set_xlabel(xlabel)
        axes.set_title(title, fontsize=9)
    grid[0, 0].set_ylabel(ylabel)
    handles, labels = max((axes.get_legend_handles_labels() for axes in grid.flat),
                          key=lambda pair: len(pair[1]))
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.03),
                  ncol=min(6, max(1, len(labels))), fontsize=8)
    save(figure, path)


def of_cause(cause):
    return {"color": COLOURS[cause], "linestyle": STYLES[cause]}


def of_series(number):
    return {"color": SERIES_COLOURS[number % len(SERIES_COLOURS)]}


def curves(path, panels):
    """`panels`: (title, xlabel, [(label, xs, ys)], {label of mark: x}, scale)."""
    figure, grid = pyplot.subplots(1, len(panels), figsize=(10.5, 3.1), sharey=True, squeeze=False,
                                   gridspec_kw={"wspace": WIDE})
    for axes, (title, xlabel, series, marks, scale) in zip(grid.flat, panels):
        for number, (label, xs, ys) in enumerate(series):
            axes.plot(xs, ys, label=label, **of_series(number))
        for number, (label, x) in enumerate(marks.items()):
            axes.axvline(x, color="#555555", linewidth=1, label=label,
                         linestyle=(":", "--", "-.")[number % 3])
        axes.set_xscale(scale)
        axes.set_ylim(0.45, 1.01)
        axes.set_xlabel(xlabel)
        axes.set_title(textwrap.fill(title, 28), fontsize=9)
    grid[0, 0].set_ylabel("balanced accuracy")
    by_label = {label: handle for axes in grid.flat
                for handle, label in zip(*axes.get_legend_handles_labels())}
    figure.legend(by_label.values(), by_label.keys(), loc="upper center", fontsize=8, ncol=6,
                  bbox_to_anchor=(0.5, -0.03))
    save(figure, path)


def reliability_diagram(path, series):
    """`series`: (label, [(promised, kept, weight, number)])."""
    figure, (axes, below) = pyplot.subplots(2, 1, figsize=(4.6, 5.0), sharex=True,
                                            gridspec_kw={"height_ratios": (3, 1)})
    axes.plot((0, 1), (0, 1), color="#555555", linewidth=1, linestyle=":", label="promise kept")
    for number, (label, table) in enumerate(series):
        known = [entry for entry in table if entry[2]]
        enough = [entry for entry in known if entry[3] >= LEAST_ROWS]
        axes.plot([entry[0] for entry in enough], [entry[1] for entry in enough],
                  marker="os"[number % 2], markersize=4, label=label, **of_series(number))
        total = sum(entry[2] for entry in known)
        below.plot([entry[0] for entry in known], [entry[2] / total for entry in known],
                   marker="os"[number % 2], markersize=3, **of_series(number))
    axes.set_ylabel("share right")
    axes.set_xlim(0, 1.01)
    axes.set_ylim(0, 1.02)
    axes.legend(fontsize=8)
    below.set_ylabel("share of rows")
    below.set_yscale("log")
    below.set_xlabel("confidence")
    save(figure, path)


def scatter(path, panels, xlabel, ylabel):
    """`panels`: (title, [(label, xs, ys, colour)]); both axes the same, logarithmic above 1e-4."""
    figure, grid = pyplot.subplots(1, len(panels), figsize=(4.4 * len(panels), 3.9), sharey=True,
                                   squeeze=False)
    for axes, (title, series) in zip(grid.flat, panels):
        axes.plot((0, 1), (0, 1), color="#555555", linewidth=0.9, linestyle=":")
        for label, xs, ys, colour in series:
            axes.plot(xs, ys, linestyle="", marker="o", markersize=3, markerfacecolor="none",
                      color=colour, label=label)
        for set_scale in (axes.set_xscale, axes.set_yscale):
            set_scale("symlog", linthresh=1e-4)
        axes.set_xlim(0, 0.6)
        axes.set_ylim(0, 0.6)
        axes.set_xlabel(xlabel)
        axes.set_title(title, fontsize=9)
    grid[0, 0].set_ylabel(ylabel)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.03), ncol=6,
                  fontsize=8)
    save(figure, path)


def stacked_bars(path, bars):
    """`bars`: (label, {outcome: share})."""
    figure, axes = pyplot.subplots(figsize=(7.6, 0.27 * len(bars) + 0.8))
    places = numpy.arange(len(bars))
    left = numpy.zeros(len(bars))
    for name in (RIGHT, UNSURE, WRONG):
        widths = numpy.array([shares[name] for _, shares in bars])
        axes.barh(places, widths, left=left, color=OUTCOME_COLOURS[name], label=name, height=0.75)
        left += widths
    axes.set_yticks(places, [label for label, _ in bars], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of intervals")
    axes.grid(False)
    axes.legend(fontsize=8, loc="upper center", ncol=3,
                bbox_to_anchor=(0.5, 1 + 1.6 / (len(bars) + 2)))
    save(figure, path)
