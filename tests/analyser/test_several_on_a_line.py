"""Several faults of one kind on one line are told one by one, each with its own place and fingerprint."""

import pytest
from judged import judged


@pytest.mark.parametrize(
    ("line", "code", "columns"),
    [
        ("*/7 */5 * * * root x", "C2Q204", [1, 5]),
        ("0 */5 */2 */7 * root x", "C2Q204", [3, 7, 11]),
        ("0 22-4 5-1 * * root x", "C2Q202", [3, 8]),
        ("*5 3 * * 5#3 root x", "C2Q211", [1, 10]),
        ("0 3 * * * root [[ -f /a ]] && source /b", "C2Q322", [16, 31]),
    ],
)
def test_each_is_told(line: str, code: str, columns: list[int]) -> None:
    found = [each for each in judged(f"{line}\n").findings if each.code == code]
    assert sorted(each.place.column or 0 for each in found) == columns
    assert len({each.fingerprint for each in found}) == len(columns)
