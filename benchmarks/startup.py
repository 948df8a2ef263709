"""What a short command costs as a whole process, against the imports that it needs and against a bare typer application.

    python benchmarks/startup.py [--rounds 7]

Milliseconds of processor time, user and system, medians of interleaved rounds with the bytecode written before. The bare
application has the commands, arguments, options and help texts of cron2queue, and nothing behind them.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer.main
from fleet import entry

from cron2queue.cli.app import build_app

SHOP = Path(__file__).resolve().parents[1] / "examples/shop/crontab"
OURS = "import sys; from cron2queue.cli.app import main; sys.argv[0] = 'cron2queue'; main()"
SETTINGS = "pretty_exceptions_enable=False, rich_markup_mode=None, context_settings={'help_option_names': ['-h', '--help']}"
IMPORTS, APPLICATION = "import typer, rich", "bare typer application, --help"
GOALS = {"cron2queue --help": (1.3, APPLICATION), "audit, 30 lines": (2.5, IMPORTS), "audit, examples/shop": (2.5, IMPORTS)}


def parameters(command: Any) -> str:
    """The signature of a bare command: each argument and option with its names, kind and help; every value is a text."""
    said = []
    for number, each in enumerate(each for each in command.params if each.name != "help"):
        kind = "Argument" if each.param_type_name == "argument" else "Option"
        flag = getattr(each, "is_flag", False)
        many = getattr(each, "multiple", False) or each.nargs == -1
        annotation = "bool" if flag else "list[str] | None" if many else "str | None"
        names = "".join(f", {name!r}" for name in each.opts) if kind == "Option" else ""
        help_text = getattr(each, "help", None) or ""
        said.append(f"p{number}: {annotation} = typer.{kind}({False if flag else None}{names}, help={help_text!r})")
    return ", ".join(said)


def bare_application() -> str:
    """Its text as a module."""
    ours: Any = typer.main.get_command(build_app())
    lines = ["import typer", f"app = typer.Typer(add_completion=True, help={ours.help!r}, {SETTINGS})"]

    def add(owner: str, name: str, command: Any) -> None:
        function = f"{owner}_{name}".replace("-", "_")
        lines.append(f"@{owner}.command({name!r})\ndef {function}({parameters(command)}):\n    {command.help!r}")

    for name, command in ours.commands.items():
        if hasattr(command, "commands"):
            lines.append(f"{name} = typer.Typer(help={command.help!r})\napp.add_typer({name}, name={name!r})")
            for inner, each in command.commands.items():
                add(name, inner, each)
        else:
            add("app", name, command)
    lines.append(
        "@app.callback()\ndef root(version: bool = typer.Option(False), traceback: bool = typer.Option(False)):\n    ''"
    )
    return "\n".join(lines) + "\n"


def processor_time(words: list[str], folder: str) -> float:
    """Milliseconds of one run."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join((folder, environment.get("PYTHONPATH", "")))
    ran = subprocess.Popen(words, stdout=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(ran.pid, 0)
    ran.returncode = os.waitstatus_to_exitcode(status)
    if ran.returncode:
        sys.exit(f"{words} ended with {ran.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000


def main() -> None:
    """Write what is measured, measure it in turns, and say how that stands to the goals."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    print(f"{sys.version.split()[0]}, {datetime.now(UTC):%Y-%m-%d}")
    with tempfile.TemporaryDirectory() as folder:
        chance = random.Random(5)
        crontab = Path(folder) / "crontab"
        entries = [entry(chance, f"shop{number}") for number in range(30)]
        crontab.write_text("".join(f"{schedule} root {command.replace('%', chr(92) + '%')}\n" for schedule, command in entries))
        (Path(folder) / "bare_application.py").write_text(bare_application(), encoding="utf-8")
        audit = ["-c", OURS, "audit", "--kind", "system", "--dialect", "debian", "--fail-on", "never"]
        measured = {
            IMPORTS: ["-c", IMPORTS],
            APPLICATION: ["-c", "from bare_application import app; app()", "--help"],
            "cron2queue --help": ["-c", OURS, "--help"],
            "audit, 30 lines": [*audit, str(crontab)],
            "audit, examples/shop": [*audit, str(SHOP)],
        }
        taken: dict[str, list[float]] = {name: [] for name in measured}
        for turn in range(rounds + 1):
            for name, words in measured.items():
                lasted = processor_time([sys.executable, *words], folder)
                if turn:  # the first writes the bytecode
                    taken[name].append(lasted)
    medians = {name: statistics.median(each) for name, each in taken.items()}
    for name, lasted in medians.items():
        goal, peer = GOALS.get(name, (0, ""))
        print(f"{name:32} {lasted:6.1f} ms" + (f"   {lasted / medians[peer]:.2f} times `{peer}` (goal {goal})" if goal else ""))


if __name__ == "__main__":
    main()
