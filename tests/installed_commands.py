"""Install each built package in a clean environment and run the commands of the README there.

    python tests/installed_commands.py dist

The environment has what ``pip install suffice`` brings, and nothing else.
"""

import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent

COMMANDS = """
suffice --version
suffice --help
suffice tutorial --yes
suffice fit train.csv --target species -o model.suffice
suffice predict model.suffice new.csv -o out.csv
suffice evaluate model.suffice new.csv
suffice explain model.suffice new.csv --row 3
suffice compare train.csv --target species
suffice drift model.suffice new.csv
suffice learn model.suffice new.csv
suffice forget model.suffice new.csv
suffice info model.suffice
suffice verify model.suffice
suffice merge model.suffice model.suffice -o both.suffice
suffice report model.suffice --data new.csv -o report.html
suffice sql model.suffice --dialect postgres --table rows -o model.sql
"""

TABLES = """
import pandas as pd
from sklearn.datasets import load_iris
iris = load_iris(as_frame=True)
table = iris.data.assign(species=iris.target_names[iris.target]).sample(frac=1, random_state=0)
table[:100].to_csv("train.csv", index=False)
table[100:].to_csv("new.csv", index=False)
"""


def run(command: list[str | Path], folder: Path) -> None:
    """Run a command; on failure, print what it wrote and stop."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    # the exit code 3 of `drift` says that columns have changed
    if done.returncode and not ("drift" in command and done.returncode == 3):
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def check(package: Path) -> None:
    """Install a package in an environment of its own and run all commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "env", with_pip=True)
        programs = folder / "env" / "bin"
        quiet = ["--quiet", "--disable-pip-version-check", "--constraint", ROOT / "constraints.txt"]
        run([programs / "python", "-m", "pip", "install", *quiet, package], folder)
        run([programs / "python", "-c", TABLES], folder)
        for line in COMMANDS.strip().splitlines():
            program, *arguments = line.split()
            run([programs / program, *arguments], folder)
        print(f"{package.name}: {len(COMMANDS.strip().splitlines())} commands ran")


if __name__ == "__main__":
    packages = sorted(Path(sys.argv[1]).resolve().glob("suffice-*"))
    if len(packages) != 2:
        sys.exit(f"expected a wheel and an sdist in {sys.argv[1]}, found {len(packages)} packages")
    for each in packages:
        check(each)
