"""Paths are asked about with os.path: pathlib's questions raise below closed folders, at long names and at links in a ring."""

import ast

from tests.shape.test_sizes import modules

ASKING = {"is_file", "is_dir", "is_symlink", "resolve", "exists"}
OWN = ("self.exists", "driver.exists")  # whether a database is there


def test_no_path_is_asked_in_a_way_that_raises() -> None:
    asked = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
        if node.func.attr in ASKING and not ast.unparse(node.func).endswith(OWN)
    ]
    assert asked == []
