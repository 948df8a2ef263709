"""Time stamps of logs: wall time without a year, with or without a zone, made into seconds since 1970.

RFC 3164 stamps (`Nov 30 11:06:01`) have neither year nor zone. The year is found from the newest line backwards
(`first_years`), then carried forward: a step from December to January begins a new one. An hour that is repeated when
clocks go back is told apart by the step back itself. ISO 8601 stamps say it all, and may stand in the same file.
"""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from cron2queue.evidence.log_format import LocalTime

STAMP = rb"[A-Z][a-z]{2} [ \d]\d [\d:]{8}|\d{4}-\d\d-\d\d[T ][\d:]{8}(?:[.,]\d{1,9})?(?:Z|[ ]?[+-]\d\d:?\d\d)?"
_MONTHS = {name: index for index, name in enumerate(b"Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)}
PRIORITY = rb"(?:<[\d.]{1,6}>(?:1 )?)?"
_HEAD = re.compile(PRIORITY + rb"(" + STAMP + rb")[ \t]")
_SLACK = timedelta(days=2)  # lines are a little out of order; cronie's are hours off after a CRON_TZ entry
LATEST = 4_102_444_800.0
"""2100-01-01: no log has later lines, and arithmetic with any sane time stays safe."""
_NEARLY_A_YEAR = timedelta(days=363)
_REMEMBERED = 100
State = tuple[int, datetime | None, bool, dict[bytes, float], bytes]


class NoStamp(ValueError):
    """The text is no time stamp, or one of a date that does not exist."""


def stamp_of(line: bytes) -> bytes | None:
    """The stamp at the head of a line."""
    found = _HEAD.match(line)
    return found.group(1) if found else None


def _wall(stamp: bytes, year: int) -> datetime:
    month = _MONTHS.get(stamp[:3])
    if month is None:
        raise NoStamp(stamp)
    try:
        return datetime(year, month, int(stamp[4:6]), int(stamp[7:9]), int(stamp[10:12]), _second(stamp[13:15]))
    except ValueError as wrong:
        raise NoStamp(stamp) from wrong


def _second(digits: bytes) -> int:
    """Within its minute: a leap second is taken for the one before."""
    return min(int(digits), 59) if digits == b"60" else int(digits)


def _iso(stamp: bytes) -> datetime:
    stamp = stamp[:17] + b"59" + stamp[19:] if stamp[17:19] == b"60" else stamp
    text = stamp.decode("ascii").replace(",", ".").replace(" +", "+").replace(" -", "-")
    try:
        return datetime.fromisoformat(text)
    except ValueError as wrong:
        raise NoStamp(stamp) from wrong


def _latest_year(stamp: bytes, bound: datetime) -> int | None:
    for year in range(bound.year + 1, bound.year - 9, -1):  # eight years back, for the leap day
        try:
            if _wall(stamp, year) <= bound:
                return year
        except NoStamp:
            continue
    return None


def first_years(samples: Sequence[Sequence[bytes]], newest: datetime) -> list[int]:
    """The year of the first stamp of each file of a rotated set.

    `samples` holds, for each file from oldest to newest, some of its stamps in order (at least one a month);
    `newest` is a wall time that the last line cannot be later than.
    """
    years: list[int] = []
    bound = newest
    for stamps in reversed(samples):
        year = bound.year
        for stamp in reversed(stamps):
            bound, year = _before(stamp, bound, year)
        years.append(year)
    return years[::-1]


def years_before(stamp: bytes, bound: datetime) -> timedelta:
    """How long the stamp lies before this wall time, at the latest date that it can have."""
    wall, _ = _before(stamp, bound, bound.year)
    return bound - wall


def _before(stamp: bytes, bound: datetime, year: int) -> tuple[datetime, int]:
    try:
        if stamp[:1].isdigit():
            wall = _iso(stamp).replace(tzinfo=None)
            return wall, wall.year
        found = _latest_year(stamp, bound + _SLACK)
        return (bound, year) if found is None else (_wall(stamp, found), found)
    except NoStamp:
        return bound, year


class Clock(LocalTime):
    """Reads the stamps of one file in order.

    `zone` is the daemon's, `year` that of the file's first line; no line is later than `newest` (wall time).
    """

    def __init__(self, zone: tzinfo, year: int, newest: datetime) -> None:
        self.zone = zone
        self.newest = newest
        self._year = year
        self._last: datetime | None = None
        self._folded = False
        self._hours: dict[bytes, float] = {}
        self._day = b""

    def afresh(self) -> "Clock":
        """The same clock before its first line."""
        return Clock(self.zone, self._year, self.newest)

    @property
    def year(self) -> int:
        """That of the latest line."""
        return self._year

    def begin(self, year: int) -> None:
        """Start again, at a line of this year."""
        self._year, self._last, self._folded, self._day = year, None, False, b""
        self._hours.clear()

    def seconds(self, stamp: bytes) -> float:
        """Seconds since 1970; raises NoStamp."""
        try:
            if len(stamp) == 15:
                base = self._hours.get(stamp[:9])
                if base is None:
                    return self._wall_seconds(stamp)
                return base + 60 * _number(stamp[10:12]) + _number(stamp[13:15])
            fraction, offset = _tail(stamp[19:])
            base = self._hours.get(stamp[:13] + offset)
            if base is None:
                base = self._iso_hour(stamp, offset)
            return base + 60 * _number(stamp[14:16]) + float(stamp[17:19] + fraction)
        except (ValueError, OverflowError) as wrong:
            raise NoStamp(stamp) from wrong

    def minute(self, stamp: bytes, zone: bytes) -> float:
        """Seconds since 1970 at which a minute begins that is never repeated; raises NoStamp for any other."""
        at = self.seconds(stamp + b":00" + zone)
        hour = stamp[:9] if len(stamp) == 12 else stamp[:13] + zone
        if hour not in self._hours:
            raise NoStamp(stamp)
        return at

    def state(self) -> State:
        """Where it is, for `restore`."""
        return self._year, self._last, self._folded, dict(self._hours), self._day

    def restore(self, state: State) -> None:
        """Go back to where it was."""
        self._year, self._last, self._folded, hours, self._day = state
        self._hours = dict(hours)

    def of(self, year: int, month: int, day: int, hour: int, minute: int, second: float) -> float:
        """Seconds since 1970 of a wall time with a known year."""
        if year > self.newest.year + 1:
            raise NoStamp(str(year))
        return self._resolve(datetime(year, month, day, hour, minute)) + second

    def _wall_seconds(self, stamp: bytes) -> float:
        wall = self._dated(stamp)
        if self._plain(wall):
            hour = wall.replace(minute=0, second=0)
            base = self._remember(stamp[:9], stamp[:6], self._resolve(hour))
            return base + 60 * wall.minute + wall.second
        return self._resolve(wall)

    def _dated(self, stamp: bytes) -> datetime:
        """The stamp with its year, which is the last line's, or the next."""
        wall = _wall(stamp, self._year)
        if self._last is None:
            return wall
        if wall < self._last - _SLACK and _wall(stamp, self._year + 1) <= self.newest + _SLACK:
            self._year += 1
            return _wall(stamp, self._year)
        if wall > self._last + _NEARLY_A_YEAR:  # a line of last December that came late, among those of January
            return _wall(stamp, self._year - 1)
        return wall

    def _iso_hour(self, stamp: bytes, offset: bytes) -> float:
        moment = _iso(stamp)
        if moment.year > self.newest.year + 1:
            raise NoStamp(stamp)
        hour = moment.replace(minute=0, second=0, microsecond=0)
        self._year = moment.year
        if moment.tzinfo is not None:
            self._last = moment.astimezone(self.zone).replace(tzinfo=None)
            return self._remember(stamp[:13] + offset, stamp[:10], hour.timestamp())
        if self._plain(hour):
            return self._remember(stamp[:13] + offset, stamp[:10], self._resolve(hour))
        return self._resolve(moment.replace(second=0, microsecond=0)) - 60 * moment.minute

    def _remember(self, key: bytes, day: bytes, base: float) -> float:
        """Hours of one day only: the same text may stand for the same day of another year."""
        if day != self._day or len(self._hours) >= _REMEMBERED:
            self._hours.clear()
            self._day = day
        self._hours[key] = base
        return base

    def _plain(self, wall: datetime) -> bool:
        """Whether the zone's clock is not changed within this hour."""
        first, last = wall.replace(minute=0, second=0), wall.replace(minute=59, second=59)
        offsets = {each.replace(tzinfo=self.zone, fold=fold).utcoffset() for each in (first, last) for fold in (0, 1)}
        return len(offsets) == 1

    def _resolve(self, wall: datetime) -> float:
        if not _is_repeated(wall, self.zone):
            self._folded = False
        elif self._last is not None and _is_repeated(self._last, self.zone) and wall < self._last:
            self._folded = True
        self._last = wall
        return wall.replace(tzinfo=self.zone, fold=int(self._folded)).astimezone(UTC).timestamp()


def _number(digits: bytes) -> int:
    number = int(digits)
    if number > 60:
        raise NoStamp(digits)
    return number


def _tail(tail: bytes) -> tuple[bytes, bytes]:
    """What follows the seconds, as the fraction with its point, and the zone."""
    if tail[:1] not in (b".", b","):
        return b"", tail
    end = 1
    while end < len(tail) and tail[end : end + 1].isdigit():
        end += 1
    return b"." + tail[1:end], tail[end:]


def _is_repeated(wall: datetime, zone: tzinfo) -> bool:
    early, late = wall.replace(tzinfo=zone, fold=0), wall.replace(tzinfo=zone, fold=1)
    before, after = early.utcoffset(), late.utcoffset()
    return before is not None and after is not None and before > after
