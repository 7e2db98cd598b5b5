"""Fresh processes: imports, compilation and memory use."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import suffice
from conftest import Case, assert_same_scores, each_of_five, example
from suffice.parallel import map_threads


def run(script: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_loads_nothing_heavy() -> None:
    assert run("""
        import sys, suffice
        print([name for name in ("numba", "pandas", "matplotlib", "sklearn", "polars") if name in sys.modules])
        suffice.GaussianNB
        print([name for name in ("numba", "matplotlib", "polars") if name in sys.modules])
        print(set(suffice.__all__) <= set(dir(suffice)))
    """).split() == ["[]", "[]", "True"]


def test_families_and_structures_are_imported_when_they_are_looked_up() -> None:
    assert run("""
        import sys, suffice
        from suffice.families import FAMILIES
        from suffice.structures import STRUCTURES
        suffice.GaussianNB().fit([[1.0], [2.0], [5.0]], [0, 0, 1]).predict([[4.0]])
        homes = [f"suffice.families.{name}" for name in ("gaussian", "poisson", "categorical")]
        homes += [f"suffice.structures.{name}" for name in ("averaged", "pooled", "trees")]
        print(*(home in sys.modules for home in homes))
        print(FAMILIES["von-mises(360)"].name, STRUCTURES["tree"].name, "oak" in STRUCTURES, FAMILIES.get("oak"))
    """).splitlines() == ["True" + 5 * " False", "von-mises tree False None"]


def test_small_tables_do_not_wait_for_the_compiler() -> None:
    assert (
        run("""
        import sys
        from sklearn.datasets import load_iris
        from suffice import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
        X, y = load_iris(return_X_y=True)
        for kind in (BernoulliNB, ComplementNB, GaussianNB, MultinomialNB):
            kind().fit(X, y).predict(X)
        CategoricalNB().fit(X.round(), y).predict(X.round())
        print("numba" in sys.modules)
    """).strip()
        == "False"
    )


def test_many_small_calls_earn_the_compiler() -> None:
    assert (
        run("""
        import sys
        import numpy as np
        from suffice import GaussianNB
        X, y = np.random.default_rng(0).normal(size=(100, 20)), np.arange(100) % 3
        model = GaussianNB().fit(X, y)
        for _ in range(60):
            model.partial_fit(X, y)
        print("numba" in sys.modules)
    """).strip()
        == "True"
    )


def test_learning_while_a_module_is_imported(tmp_path: Path) -> None:
    """Threads that wait for the import lock of the module that waits for them would never end."""
    (tmp_path / "user.py").write_text(
        "import numpy as np\nimport suffice\n"
        "X, y = np.random.default_rng(0).normal(size=(50_000, 100)), np.arange(50_000) % 3\n"
        "with suffice.threads(4):\n    model = suffice.GaussianNB().fit(X, y)\n    guesses = model.predict(X)\n"
    )
    assert run("import user; print(len(user.guesses))", tmp_path).strip() == "50000"


def test_a_forked_process_learns_too() -> None:
    assert (
        run("""
        import multiprocessing
        import numpy as np
        from suffice import GaussianNB, threads
        X, y = np.random.default_rng(0).normal(size=(60_000, 100)), np.arange(60_000) % 3
        def learn(_):
            with threads(2):
                return GaussianNB().fit(X, y).theta_.sum()
        with threads(2):
            here = learn(0)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            print(pool.map(learn, [0])[0] == here)
    """).strip()
        == "True"
    )


# X has 784 columns of each type, in each order; extra memory is what NumPy allocates beyond it
MEMORY = """
    import tracemalloc
    import numpy as np
    import suffice
    dtype, order = np.dtype({dtype!r}), {order!r}
    X = np.random.default_rng(0).integers(0, 5, ({rows}, 784), dtype=np.uint8).astype(dtype, order=order)
    y = np.arange({rows}) % 10
    for name in {names!r}:
        model = getattr(suffice, name)()
        model.fit(X, y).predict(X)  # compiled
        for step in (model.fit, lambda X, y: model.predict(X)):
            tracemalloc.start()
            step(X, y)
            print(tracemalloc.get_traced_memory()[1] / X.nbytes)
            tracemalloc.stop()
"""


@pytest.mark.parametrize(
    ("dtype", "order", "rows"), [("u1", "C", 60_000), ("u1", "F", 60_000), ("f4", "C", 20_000), ("f8", "F", 20_000)]
)
def test_little_memory_beside_the_data(dtype: str, order: str, rows: int) -> None:
    names = ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB"]
    shares = run(MEMORY.format(names=names, dtype=dtype, order=order, rows=rows)).split()
    assert len(shares) == 2 * len(names)
    assert max(map(float, shares)) <= 0.10


@each_of_five
def test_a_model_travels(case: Case) -> None:
    X, y = example(case)
    model = case.ours().fit(X, y)
    travelled = pickle.loads(pickle.dumps(model))
    assert travelled.tally_ == model.tally_
    assert_same_scores(travelled.predict_proba(X), model.predict_proba(X))
    assert set(model.__getstate__()) == {*model.get_params(), "tally_"}  # nothing else is learned


def test_where_nothing_can_be_cached(tmp_path: Path) -> None:
    """A read-only installation still compiles."""
    from suffice.kernels import compiler

    def source(x: np.ndarray) -> float:
        return x[0]

    locals_only = eval("lambda x: x[0] + 1.0")  # a source that is in no file
    assert compiler.compiled(locals_only, set())(np.ones(1)) == 2.0
    assert compiler.compiled(source, set())(np.ones(1)) == 1.0


def test_a_truncated_cache_is_compiled_again(tmp_path: Path) -> None:
    code = """
        import numpy as np
        from suffice.kernels import compiler, posterior
        compiler.PATIENCE = 0
        codes = np.empty(1, np.intp)
        posterior.pick(np.array([[0.0, 1.0]]), codes, work=1)
        assert codes.tolist() == [1]
    """
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}

    def run() -> None:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    run()
    for kind, kept in (("nbi", 0.5), ("nbc", 0.5), ("nbc", 0.0)):
        (file,) = tmp_path.rglob(f"*.{kind}")
        file.write_bytes(file.read_bytes()[: int(kept * file.stat().st_size)])
        run()  # removes the damaged files
        assert not list(tmp_path.rglob("*.nb?"))
        run()


def test_threads_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_THREADS", "3")
    assert suffice.get_threads() == 3
    with suffice.threads(5):
        assert suffice.get_threads() == 5
    assert suffice.get_threads() == 3


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    def fail_from(part: int) -> int:
        if part >= 3:
            raise ValueError(f"part {part}")
        return part

    with suffice.threads(4):
        assert map_threads(fail_from, [0, 1, 2]) == [0, 1, 2]
        with pytest.raises(ValueError, match="part 3"):
            map_threads(fail_from, [0, 3, 1])


def test_learning_while_the_interpreter_shuts_down() -> None:
    assert (
        run("""
        import threading
        import numpy as np
        from suffice import GaussianNB, threads
        X, y = np.random.default_rng(0).normal(size=(60_000, 50)), np.arange(60_000) % 3
        def late():
            threading.main_thread().join()
            with threads(4):
                print(GaussianNB().fit(X, y).class_count_.sum())
        threading.Thread(target=late).start()
    """).strip()
        == "60000.0"
    )
