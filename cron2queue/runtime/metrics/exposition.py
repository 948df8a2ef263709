"""The Prometheus text format, version 0.0.4: families of samples in, text out.

Rules from https://prometheus.io/docs/instrumenting/exposition_formats/: in a label value the backslash, the double
quote and the line feed are escaped, in HELP the backslash and the line feed; the text ends with a line feed.
"""

import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cron2queue.text import safe_text

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LABEL_LIMIT = 200  # a hostile name cannot blow up a label
_NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One value; `suffix` is `_bucket`, `_sum`, `_count` for the parts of a histogram."""

    labels: Mapping[str, str]
    value: float
    suffix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One metric with its samples; a family without samples is left out of the text."""

    name: str
    type: Literal["gauge", "counter", "histogram"]
    help: str
    samples: tuple[Sample, ...]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"not a metric name: {self.name!r}")


def _escaped(value: str) -> str:
    shown = safe_text(value)[:LABEL_LIMIT]
    return shown.replace("\\", "\\\\").replace('"', '\\"')


def number(value: float) -> str:
    """A value as Prometheus reads it: whole numbers without a fraction, and its three words for the rest."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def _series(family: Family, sample: Sample) -> str:
    labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels.items())
    return f"{family.name}{sample.suffix}{'{' + labels + '}' if labels else ''}"


def _values(family: Family) -> dict[str, float]:
    """Value by series; two names that are shown alike are one series, since a scraper refuses a text with a repetition."""
    values: dict[str, float] = {}
    for sample in family.samples:
        series = _series(family, sample)
        values[series] = values.get(series, 0.0) + sample.value
    return values


def _lines(families: Iterable[Family]) -> Iterator[str]:
    for family in families:
        if family.samples:
            explained = family.help.replace("\\", "\\\\").replace("\n", "\\n")
            yield f"# HELP {family.name} {explained}"
            yield f"# TYPE {family.name} {family.type}"
            yield from (f"{series} {number(value)}" for series, value in _values(family).items())


def render(families: Iterable[Family]) -> str:
    """The families as text that a scraper reads."""
    return "".join(line + "\n" for line in _lines(families))


def write_textfile(path: Path, text: str) -> None:
    """Put the text in place at once, readable by the collector: a reader sees the old or the new text, never a half.

    The temporary file lies in the same folder and does not end in `.prom`, so node_exporter passes it by.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            os.fchmod(file.fileno(), 0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
