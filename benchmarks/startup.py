"""The start-up time: imports compared with those of scikit-learn, and a first fit without a compiler cache.

make bench            or            python benchmarks/startup.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

TIMES = 5
STATEMENTS = {
    "import sklearn.naive_bayes": "import sklearn.naive_bayes",
    "import suffice": "import suffice",
    "from suffice import GaussianNB": "from suffice import GaussianNB",
}
IRIS = """
from time import perf_counter
from sklearn.datasets import load_iris
from suffice import GaussianNB
X, y = load_iris(return_X_y=True)
start = perf_counter()
GaussianNB().fit(X, y).predict(X)
print((perf_counter() - start) * 1e3)
"""


def run(script: str) -> float:
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
        )
    return float(done.stdout)


def main() -> None:
    timed = "from time import perf_counter\nstart = perf_counter()\n{}\nprint((perf_counter() - start) * 1e3)"
    taken = {name: min(run(timed.format(line)) for _ in range(TIMES)) for name, line in STATEMENTS.items()}
    peer = taken["import sklearn.naive_bayes"]
    for name, milliseconds in taken.items():
        print(f"{name:40}{milliseconds:9.1f} ms{milliseconds / peer:8.2f} x scikit-learn")
    print(f"{'iris, fit and predict, nothing compiled':40}{min(run(IRIS) for _ in range(TIMES)):9.1f} ms")


if __name__ == "__main__":
    main()
