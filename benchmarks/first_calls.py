"""The first call in a fresh process, whose kernels are in the compiler's cache on disk, compared with the second.

    make bench            or            python benchmarks/first_calls.py

A table is large enough for kernels to be compiled. "numba" is the time of importing the compiler and of the first
kernel, for which Numba sets up its registries; every process pays it once. "first" is the time of the first call after
that, "second" that of the next one, and "each" the difference divided by the number of kernels that were loaded from
the cache. Times are those of the processor.
"""

from __future__ import annotations

import json

from timing import run_python

TIMES = 3
DATA = """
import json, time, warnings
warnings.simplefilter("ignore")
import numpy as np
import suffice
from suffice.families import FAMILIES
from suffice.kernels import compiler
from suffice.structures import STRUCTURES
list(FAMILIES.values()), list(STRUCTURES.values())
suffice.BayesClassifier, suffice.BernoulliNB, suffice.CategoricalNB, suffice.GaussianNB, suffice.MultinomialNB
start = time.process_time()
from suffice.kernels.binning import cut
one = np.zeros((1, 1))
cut(one, np.zeros(1), np.ones(1, np.int64), np.zeros(1, np.int64), np.zeros((1, 1), np.int8), work=compiler.PATIENCE)
numba_time = time.process_time() - start
loaded = []
inner = compiler.compiled
def count(source, *rest, **settings):
    loaded.append(source.__name__)
    return inner(source, *rest, **settings)
compiler.compiled = count
rng = np.random.default_rng(0)
y = rng.integers(0, 3, 20_000)
shape = (20_000, 20)
numbers, levels, counts = rng.normal(size=shape), rng.integers(0, 6, shape), rng.poisson(2.0, shape)
"""
TIMED = """
def run():
    start = time.process_time()
    {call}
    return time.process_time() - start
first, second = run(), run()
print(json.dumps([numba_time, first, second, loaded]))
"""
CALLS = {
    "GaussianNB": "suffice.GaussianNB().fit(numbers, y).predict(numbers)",
    "BernoulliNB": "suffice.BernoulliNB(binarize=0.0).fit(numbers, y).predict(numbers)",
    "MultinomialNB": "suffice.MultinomialNB().fit(counts, y).predict(counts)",
    "CategoricalNB": "suffice.CategoricalNB().fit(levels, y).predict(levels)",
    "BayesClassifier, naive": "suffice.BayesClassifier(structure='naive').fit(numbers, y).predict(numbers)",
    "BayesClassifier, tree": "suffice.BayesClassifier(structure='tree').fit(levels, y).predict(levels)",
    "BayesClassifier, averaged": "suffice.BayesClassifier(structure='averaged').fit(levels, y).predict(levels)",
    "BayesClassifier": "suffice.BayesClassifier().fit(numbers, y).predict(numbers)",
}


def run(call: str) -> tuple[float, float, float, list[str]]:
    script = DATA + TIMED.format(call=call)
    numba, first, second, loaded = json.loads(run_python(script))
    return numba, first, second, loaded


def main() -> None:
    print(f"{'':28}{'numba':>9}{'first':>9}{'second':>9}{'each':>9}  kernels")
    for name, call in CALLS.items():
        run(call)  # fills the cache
        numba, first, second, loaded = min((run(call) for _ in range(TIMES)), key=lambda found: found[1] - found[2])
        each = (first - second) / max(len(loaded), 1)
        times = "".join(f"{seconds * 1e3:7.0f}ms" for seconds in (numba, first, second, each))
        print(f"{name:28}{times}  {', '.join(loaded)}", flush=True)


if __name__ == "__main__":
    main()
