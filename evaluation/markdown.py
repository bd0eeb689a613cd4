# SPDX-License-Identifier: Apache-2.0
"""Tables and numbers of a Markdown page."""

import re
import textwrap


def table(head, rows, left=1):
    """The first `left` columns are words, the rest numbers."""
    lines = [head, ["---"] * left + ["---:"] * (len(head) - left), *rows]
    return "\n" + "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def percent(share, digits=1):
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def wrapped(page, columns=120):
    """The page with its paragraphs filled anew; tables, headings, figures and lists stay."""
    parts = []
    for part in page.split("\n\n"):
        is_prose = part and not part.lstrip("\n").startswith(("|", "#", "!", "<", "```")) \
            and not re.match(r"\d+\. ", part.lstrip("\n"))
        if is_prose and "\n|" not in part and "\n#" not in part:
            part = textwrap.fill(" ".join(part.split()), columns, break_long_words=False,
                                 break_on_hyphens=False)
        parts.append(part)
    return "\n\n".join(parts)


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
