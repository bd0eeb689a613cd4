# SPDX-License-Identifier: Apache-2.0
"""Tables and numbers of a Markdown page."""


def table(head, rows, left=1):
    """The first `left` columns are words, the rest numbers."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "\n" + "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def percent(share, digits=1):
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def share(value):
    return "–" if value is None else f"{value:.3f}"


def share_with_bounds(value, bounds):
    if value is None:
        return "–"
    return f"{value:.3f}" if bounds is None else f"{value:.3f} ({bounds[0]:.3f}–{bounds[1]:.3f})"


def figure(name, text):
    return f"\n![{text}](evaluation/{name}.svg)\n"


def code(word):
    return f"`{word}`"


def rate(megabits):
    return f"{megabits:g} Mbit/s" if megabits < 1000 else f"{megabits / 1000:g} Gbit/s"
