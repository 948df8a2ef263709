"""The field grammar of vixie cron 3.0, which Debian and FreeBSD keep: a run of letters and digits, then anything.

What follows an accepted value up to the next blank is ignored: `5#3` is 5, `*;x` is `*`, `0~59` is 0.
"""

from __future__ import annotations

from cron2queue.crontab.fields import ALNUM, FieldError, FieldSpec, FieldValue, int32, stepped
from cron2queue.record import Record

_COMMA, _DASH, _SLASH, _STAR = 0x2C, 0x2D, 0x2F, 0x2A
_END = -1


class _Refused(Exception):
    def __init__(self, consumed: int, at: int) -> None:
        super().__init__(consumed, at)
        self.error = FieldError(consumed, at)


class AlnumGrammar(Record):
    """`longest_word`: more letters and digits are refused. `open_steps`: N/S means N-last/S.

    `checks_ends`: both ends of a range must be allowed values even if the step never reaches them.
    """

    longest_word: int
    open_steps: bool = False
    checks_ends: bool = False

    def __call__(self, token: bytes, spec: FieldSpec) -> FieldValue | FieldError:
        """Read one field."""
        bits, at = 0, 0
        try:
            while True:
                item, at = self._range(token, at, spec)
                bits |= item
                if _byte(token, at) != _COMMA:
                    break
                at += 1
        except _Refused as refused:
            return refused.error
        if _byte(token, at) == 0xFF:  # a signed char: the end of the file to get_list()
            return FieldError(at + 1, at)
        return FieldValue(bits)

    def _range(self, token: bytes, at: int, spec: FieldSpec) -> tuple[int, int]:
        begin = at
        if _byte(token, at) == _STAR:
            first, last, at = spec.low, spec.high, at + 1
        else:
            first, at = self._number(token, at, spec.names, spec.low)
            follows = _byte(token, at)
            if follows == _SLASH:
                if not self.open_steps:
                    raise _Refused(at + 1, begin)
                last = spec.high
            elif follows != _DASH:
                return self._single(first, spec, at, begin)
            else:
                last, at = self._number(token, at + 1, spec.names, spec.low)
        step = 1
        if _byte(token, at) == _SLASH:
            step, at = self._number(token, at + 1, (), 0)
        outside = not (spec.low <= first <= spec.high and spec.low <= last <= spec.high)
        bits = None if step == 0 or (self.checks_ends and outside) else stepped(first, last, step, spec)
        if bits is None:
            raise _Refused(at + 1, begin)
        return bits, at

    @staticmethod
    def _single(value: int, spec: FieldSpec, at: int, begin: int) -> tuple[int, int]:
        if not spec.low <= value <= spec.high:
            raise _Refused(at + 1, begin)
        return 1 << value, at

    def _number(self, token: bytes, at: int, names: tuple[bytes, ...], low: int) -> tuple[int, int]:
        match = ALNUM.match(token, at)
        word = match.group() if match else b""
        if not word:
            raise _Refused(at + 1, at)
        if len(word) > self.longest_word:
            raise _Refused(at + self.longest_word + 1, at)
        after = at + len(word)
        lowered = word.lower()
        if lowered in names:
            return names.index(lowered) + low, after
        if not word.isdigit():
            raise _Refused(after + 1, at)
        return int32(word), after


def _byte(token: bytes, at: int) -> int:
    return token[at] if at < len(token) else _END
