"""The first call in a fresh process, whose kernels are in the compiler's cache on disk, compared with the second.

    make bench            or            python benchmarks/first_calls.py

A table is large enough for kernels to be compiled. "once" is the time of importing the compiler, of the first kernel,
for which Numba sets up its registries, and of finding the BLAS libraries, whose threads are limited; every process pays
it once. "first" is the time of the first call after that, "second" that of the next one, and "each" the difference
divided by the number of kernels that were loaded from the cache. Times are those of the processor. No garbage is
collected meanwhile: looking at all objects of Numba takes longer than a kernel, whichever call it falls into.
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
from suffice.parallel import one_blas_thread
one = np.zeros((1, 1))
cut(one, np.zeros(1), np.ones(1, np.int64), np.zeros(1, np.int64), np.zeros((1, 1), np.int8), work=compiler.PATIENCE)
with one_blas_thread():
    once = time.process_time() - start
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
import gc
gc.collect()
gc.disable()
def run():
    start = time.process_time()
    {call}
    return time.process_time() - start
first, second = run(), run()
print(json.dumps([once, first, second, loaded]))
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
    once, first, second, loaded = json.loads(run_python(script))
    return once, first, second, loaded


def main() -> None:
    print(f"{'':28}{'once':>9}{'first':>9}{'second':>9}{'each':>9}  kernels")
    for name, call in CALLS.items():
        run(call)  # fills the cache
        once, first, second, loaded = min((run(call) for _ in range(TIMES)), key=lambda found: found[1] - found[2])
        each = (first - second) / max(len(loaded), 1)
        times = "".join(f"{seconds * 1e3:7.0f}ms" for seconds in (once, first, second, each))
        print(f"{name:28}{times}  {', '.join(loaded)}", flush=True)


if __name__ == "__main__":
    main()
