"""The bundled example is what its makers say it is."""

import gzip
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SHOP = Path(__file__).resolve().parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def make_logs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_logs", SHOP / "make_logs.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_logs_are_those_that_the_script_writes(make_logs: ModuleType) -> None:
    def plain(name: str, data: bytes) -> bytes:
        return gzip.decompress(data) if name.endswith(".gz") else data

    made = {name: plain(name, data) for name, data in make_logs.files().items()}
    kept = {path.name: plain(path.name, path.read_bytes()) for path in (SHOP / "logs").iterdir()}
    assert kept == made
