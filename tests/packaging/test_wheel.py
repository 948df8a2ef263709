"""What is installed is complete: wheel and sdist carry the templates and the examples, and find them."""

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True, capture_output=True)
    return folder


def test_the_sdist_carries_all_that_a_build_and_a_test_need(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"pyproject.toml", "LICENSE", "README.md", "examples/shop/crontab", "tests/shape/test_floors.py"} <= names
    assert any(name.startswith("templates/") for name in names)


def test_an_unpacked_wheel_finds_its_templates_and_examples(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        wheel.extractall(tmp_path)
    code = "from cron2queue.bundled import data_root as d; print(d('templates')); print(d('examples') / 'shop' / 'crontab')"
    ran = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    templates, crontab = (Path(line) for line in ran.stdout.split())
    assert templates == tmp_path / "cron2queue" / "_templates"
    assert crontab.read_bytes() == (ROOT / "examples" / "shop" / "crontab").read_bytes()


def test_a_checkout_finds_the_folders_beside_the_package() -> None:
    code = "from cron2queue.bundled import data_root as d; print(d('templates'))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert Path(ran.stdout.strip()) == ROOT / "templates"
