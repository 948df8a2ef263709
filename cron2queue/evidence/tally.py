"""Counts the runs of one entry as they come, in memory that does not grow with them."""

from collections import Counter
from datetime import UTC, datetime

from cron2queue.evidence.batch import Share
from cron2queue.evidence.emptiness import Costs, emptiness
from cron2queue.evidence.log_format import NO_ENDING, Ending
from cron2queue.evidence.runs import Pairing
from cron2queue.evidence.sketch import Sketch
from cron2queue.evidence.slope import Slope
from cron2queue.evidence.statistics import Bounds, Evidence, Failure, Window

_AT_ONCE = 2_000
_FEW_UNDECIDED = 0.1


def moment(at: float) -> datetime:
    """Seconds since 1970 as an aware time in UTC."""
    return datetime.fromtimestamp(at, UTC)


class Tally:
    """All that is kept of the runs of the entries `ids`, which cannot be told apart in the log."""

    def __init__(self, ids: tuple[str, ...], *, background: bool = False) -> None:
        self.ids = ids
        self.background = background
        self.resolution = 1.0
        self.starts = self.met = self.open = self.bounded_ends = 0
        self.judged = self.undecided = 0
        """Runs of which it is known (not known) whether they lived until the next start."""
        self.refused = 0
        self.sources: set[str] = set()
        self._source = ""
        self._plain_starts: list[float] = []
        self._plain_seconds: list[float] = []
        self._plain_counts: Counter[float] = Counter()
        self.pairing: Pairing | None = None
        self.seconds, self.silent_seconds, self.cpu, self.silent_cpu = Sketch(), Sketch(), Sketch(), Sketch()
        self.low, self.high = Sketch(), Sketch()
        self.unbounded = 0
        self.slope = Slope()
        self.failures = self.statuses = self.clean = 0
        self.last_failure: Failure | None = None
        self.wrote = self.silent = self.quiet = 0
        self.said_nothing = 0
        self.max_rss: int | None = None

    def start(self, at: float, source: str) -> None:
        """One start."""
        self.starts += 1
        if source != self._source:
            self.sources.add(source)
            self._source = source

    def take(self, share: Share) -> None:
        """Its starts, and its closed runs, of which nothing is known but when."""
        self.starts += share.count
        self.sources.add(share.source)
        closed = share.seconds.total()
        if self.background:
            self.clean += closed
            self.quiet += closed
        elif closed:
            self.judged += closed
            self._weaken(share.pairing)
            self.slope.join(share.slope)
            self._plain_counts.update(share.seconds)
            if len(self._plain_counts) >= _AT_ONCE:
                self._count_plain()

    def _weaken(self, pairing: Pairing) -> None:
        """The pairing of all is that of the weakest."""
        if (pairing is not Pairing.EXACT or self.pairing is None) and self.pairing is not Pairing.AMBIGUOUS:
            self.pairing = pairing

    def end(self, at: float, seconds: float, ending: Ending, pairing: Pairing) -> None:
        """An end with a known duration."""
        seconds = max(0.0, seconds)  # clocks step back
        if ending is NO_ENDING and pairing is self.pairing:
            self._plain_starts.append(at)
            self._plain_seconds.append(seconds)
            if len(self._plain_starts) >= _AT_ONCE:
                self._count_plain()
            return
        self.seconds.add(seconds)
        if seconds % 1:
            self.resolution = 1e-6
        self.slope.add((at,), (seconds,))
        self._weaken(pairing)
        bad = self._status(at + seconds, ending)
        self._output(ending)
        if not bad and not ending.output:
            self.silent_seconds.add(seconds)
        if ending.cpu_seconds is not None:
            self.cpu.add(ending.cpu_seconds)
            if not bad and not ending.output:
                self.silent_cpu.add(ending.cpu_seconds)
        if ending.max_rss_bytes is not None:
            self.max_rss = max(self.max_rss or 0, ending.max_rss_bytes)

    def _count_plain(self) -> None:
        """Count the runs of which nothing but the duration is known: nearly all of them, so they wait for each other."""
        if self._plain_starts:
            self.slope.add(self._plain_starts, self._plain_seconds)
            self._plain_counts.update(self._plain_seconds)
            self._plain_starts, self._plain_seconds = [], []
        counts, self._plain_counts = self._plain_counts, Counter()
        self.seconds.add_counts(counts)
        self.silent_seconds.add_counts(counts)
        if any(each % 1 for each in counts):
            self.resolution = 1e-6
        self.clean += counts.total()
        self.quiet += counts.total()

    def between(self, at: float, low: float, high: float | None, ending: Ending) -> None:
        """An end of which only limits are known."""
        self.bounded_ends += 1
        self.low.add(low)
        if high is None:
            self.unbounded += 1
        else:
            self.high.add(high)
        self._status(at + low, ending)
        self._output(ending)

    def end_of_shell(self, at: float, ending: Ending) -> None:
        """An end that tells nothing of the duration, since the work goes on in the background."""
        self._status(at, ending)
        self._output(ending)

    def _status(self, at: float, ending: Ending) -> bool:
        if ending.exit_status is None and ending.signal is None:
            self.clean += 1
            return False
        self.statuses += 1
        if not ending.exit_status and ending.signal is None:
            return False
        self.failures += 1
        if self.last_failure is None or moment(at) >= self.last_failure.at:
            self.last_failure = Failure(at=moment(at), exit_status=ending.exit_status, signal=ending.signal)
        return True

    def _output(self, ending: Ending) -> None:
        if ending.nothing_to_do:
            self.said_nothing += 1
        if ending.output is None:
            self.quiet += 1
        elif ending.output:
            self.wrote += 1
        else:
            self.silent += 1

    def evidence(self, *, window: Window, failures_told: bool, output_told: bool) -> Evidence:
        """The figures. `..._told`: the source tells of failures (or output) whenever there are some."""
        self._count_plain()
        silent = self.silent + (self.quiet if output_told else 0)
        outputs = self.wrote + silent if output_told or self.silent else 0
        statuses = self.statuses + self.clean if failures_told else self.statuses
        return Evidence(
            window=window,
            starts=self.starts,
            n=self.seconds.n,
            open=self.open,
            pairing=self.pairing if self.seconds.n else (Pairing.AMBIGUOUS if self.bounded_ends else None),
            median_seconds=self.seconds.quantile(0.5),
            p95_seconds=self.seconds.quantile(0.95),
            max_seconds=self.seconds.high if self.seconds.n else None,
            resolution=self.resolution,
            bounds=self._bounds(),
            trend_seconds_per_day=self.slope.per_day(),
            failures=self.failures if statuses else None,
            statuses=statuses,
            last_failure=self.last_failure,
            met_predecessor=self._met_share(),
            silent=silent / outputs if outputs else None,
            outputs=outputs,
            empty=emptiness(self._costs(), resolution=self.resolution, output_known=bool(outputs)),
            cpu_median_seconds=self.cpu.quantile(0.5),
            max_rss_bytes=self.max_rss,
            shares_with=self.ids,
            background=self.background,
            source=", ".join(sorted(self.sources)),
        )

    def _met_share(self) -> float | None:
        """Starts that met a live run, of those of which it is known; None when too many may have or not."""
        if self.refused:
            return min(1.0, self.met / self.starts)
        if not self.judged or self.undecided > _FEW_UNDECIDED * self.judged:
            return None
        return min(1.0, self.met / (self.judged + self.open))

    def _costs(self) -> Costs:
        return Costs(
            seconds=self.seconds,
            silent_seconds=self.silent_seconds,
            cpu=self.cpu,
            silent_cpu=self.silent_cpu,
            said_nothing=self.said_nothing,
            spoke=self.wrote,
        )

    def _bounds(self) -> Bounds | None:
        if not self.bounded_ends:
            return None
        return Bounds(
            n=self.bounded_ends,
            median_low=self.low.quantile(0.5) or 0.0,
            median_high=None if self.unbounded * 2 >= self.bounded_ends else self.high.quantile(0.5),
            max_high=None if self.unbounded else self.high.high,
        )
