"""Plots: they show the model's numbers, and work with unusual names, single classes and missing cells."""

from __future__ import annotations

import inspect
import re
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import mutual_info_score

import suffice
from suffice import (
    BayesClassifier,
    Bernoulli,
    BernoulliNB,
    Beta,
    Categorical,
    CategoricalNB,
    Gaussian,
    GaussianDiscriminant,
    GaussianNB,
    LogisticRegression,
    MixtureClassifier,
    MultinomialNB,
    Poisson,
    PoissonNB,
    Tree,
    plots,
)
from suffice.choice.positive_forms import POSITIVE
from suffice.plots import canvas, class_densities, dependency_tree, model_columns, pixel_images, posterior
from suffice.printable import signed
from suffice.structures.trees import Trees

pd = pytest.importorskip("pandas")

RNG = np.random.default_rng(8)
IRIS, SPECIES = load_iris(return_X_y=True)
SPECIES = load_iris().target_names[SPECIES]
DIGITS, DIGIT = (each[:600] for each in load_digits(return_X_y=True))
RED = matplotlib.colors.to_rgba(canvas.RED)


@pytest.fixture(autouse=True)
def _closed():
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()  # what cannot be written fails here
    plt.close("all")


def table(rows: int = 240, awkward: bool = True):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, rows)
    names = ("cost in $ and more $", "_hidden", "a very long name of a column that no picture has room for", "n_x^2")
    names = names if awkward else ("a", "b", "c", "d")
    frame = pd.DataFrame(
        {
            names[0]: rng.normal(y, 1.0),
            names[1]: np.array(["$low$", "_mid", "a level with a very long name"])[(y + rng.integers(0, 2, rows)) % 3],
            names[2]: rng.random(rows) < 0.2 + 0.3 * y,
            names[3]: np.exp(rng.normal(y, 1.5)),
        }
    )
    frame = frame.astype({names[2]: object}).mask(rng.random((rows, 4)) < 0.1)
    return frame, np.array(["$yes$", "_no", "perhaps, with a long name indeed"])[y]


FRAME, LABELS = table()
NAIVE = BayesClassifier(structure="naive").fit(FRAME, LABELS)
POOL = BayesClassifier().fit(FRAME, LABELS)

CASES = {
    "bernoulli": (BernoulliNB(), (DIGITS > 7).astype(float), DIGIT),
    "binarized": (BernoulliNB(binarize=7.0), DIGITS, DIGIT),
    "categorical": (CategoricalNB(), np.minimum(DIGITS // 4, 3), DIGIT),
    "gaussian": (GaussianNB(), IRIS, SPECIES),
    "student": (GaussianNB(estimate="predictive"), IRIS, SPECIES),
    "poisson": (PoissonNB(), DIGITS, DIGIT),
    "multinomial": (MultinomialNB(), DIGITS, DIGIT),
    "mixed": (BayesClassifier(structure="naive"), FRAME, LABELS),
    "gaussian and levels": (BayesClassifier(structure="naive", numeric="gaussian"), FRAME, LABELS),
    "quantiles": (BayesClassifier(structure="naive", numeric="quantiles"), FRAME, LABELS),
}


@pytest.mark.parametrize("case", CASES)
def test_a_nomogram_reads_as_the_model_predicts(case):
    model, X, y = CASES[case]
    model.fit(X, y)
    some = X[:40]
    its = plots.points(model, some)
    held = model_columns.column_values(model, some)
    proba = model.predict_proba(some)
    for row in range(40):
        values = [held[scale.feature][row] for scale in its.scales]
        np.testing.assert_allclose(its.probabilities(values), proba[row], atol=1e-9, rtol=1e-9)
        two = proba[row, its.mine] / max(proba[row, its.mine] + proba[row, its.other], 1e-300)
        if proba[row, [its.mine, its.other]].max() > 1e-250:
            np.testing.assert_allclose(its.probability(sum(its.points(values))), two, atol=1e-9)


@pytest.mark.parametrize("structure", ["auto", Trees(5)], ids=str)
@pytest.mark.parametrize("name", FRAME.columns)
def test_densities_of_a_pool_are_those_of_the_naive_model(name, structure):
    pool = BayesClassifier(structure=structure).fit(FRAME, LABELS)
    # which also chooses among families of positive numbers; a pool counts no logarithms
    families = {each: "number" for each, kind in NAIVE.families_.items() if kind in POSITIVE}
    naive = BayesClassifier(structure="naive", families=families).fit(FRAME, LABELS)
    ax, expected = plots.densities(pool, FRAME, LABELS, name), plots.densities(naive, FRAME, LABELS, name)
    assert len(ax.lines) == len(expected.lines) > 0
    for line, other in zip(ax.lines, expected.lines, strict=True):
        np.testing.assert_array_equal(line.get_xydata(), other.get_xydata())
    assert pool.structure == structure


def test_of_two_classes_the_total_is_the_probability():
    two = LABELS != "_no"
    model = BayesClassifier(structure="naive").fit(FRAME[two], LABELS[two])
    its, held = plots.points(model, FRAME[two]), model_columns.column_values(model, FRAME[two])
    proba = model.predict_proba(FRAME[two])
    assert its.label == model.classes_[1]
    for row in range(int(two.sum())):
        total = sum(its.points([held[scale.feature][row] for scale in its.scales]))
        assert its.probability(total) == pytest.approx(proba[row, 1], abs=1e-9)
        assert its.total(its.probability(total)) == pytest.approx(total, abs=1e-6)


@pytest.mark.parametrize("case", ["gaussian", "binarized", "categorical", "mixed", "quantiles"])
def test_what_is_marked_in_a_nomogram_are_the_points(case):
    model, X, y = CASES[case]
    model.fit(X, y)
    first, second = model.classes_.tolist()[:2]
    ax = plots.nomogram(model, X, first, second, row=3, most=100)
    its = plots.points(model, X, first, second)
    held = model_columns.column_values(model, X[3:4])
    points = its.points([held[scale.feature][0] for scale in its.scales])
    marks = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    by_range = np.argsort(-its.widths, kind="stable")
    np.testing.assert_allclose(marks[:-1], np.clip(points, -2, 102)[by_range], atol=1e-9)
    words = [text.get_text() for text in ax.texts]
    odds = its.log_odds(sum(points))
    assert canvas.percent(-np.logaddexp(0, -odds)) in words


def test_the_axes_of_a_nomogram_say_the_probability_of_a_total():
    model = GaussianNB().fit(IRIS[50:], SPECIES[50:])
    its = plots.points(model, IRIS[50:])
    ax = plots.nomogram(model, IRIS[50:])
    half, line = next(text.get_position() for text in ax.texts if text.get_text() == "0.5")
    on_total = [text for text in ax.texts if text.get_position()[1] == pytest.approx(line + 1.4)]
    numbers = sorted((text.get_position()[0], float(text.get_text())) for text in on_total)
    (x0, low), (x1, high) = numbers[0], numbers[-1]
    total = low + (half - x0) * (high - low) / (x1 - x0)
    assert its.probability(total) == pytest.approx(0.5, abs=1e-6)


def test_the_columns_that_are_not_drawn_are_one_scale():
    model = BernoulliNB(binarize=7.0).fit(DIGITS, DIGIT)
    ax = plots.nomogram(model, DIGITS, 3, 8, row=3, most=5)
    assert "59 more columns" in [text.get_text() for text in ax.texts]


def test_levels_never_met_and_empty_cells_are_on_the_scales():
    its = plots.points(NAIVE, FRAME)
    odd = pd.DataFrame([[None, "never met", None, 2.0]], columns=FRAME.columns)
    np.testing.assert_allclose(
        plots.points(NAIVE, odd).probabilities([None, "never met", None, 2.0]), NAIVE.predict_proba(odd)[0], atol=1e-12
    )
    with pytest.raises(ValueError, match="the row has 1 values"):
        its.points([1])


def test_a_number_that_is_not_on_a_scale_says_what_to_do():
    model = GaussianNB().fit(IRIS, SPECIES)
    with pytest.raises(ValueError, match="make the scales with rows that have it"):
        plots.points(model).points([1.23456, 1, 1, 1])


def test_probabilities_of_zero():
    model = CategoricalNB(estimate="mle").fit([[0, 0], [0, 1], [1, 1], [1, 0]], ["a", "a", "b", "b"])
    its = plots.points(model)
    assert its.probability(sum(its.points([1, 0]))) == 1.0
    plots.nomogram(model, [[0, 1]], row=0)
    plots.waterfall(model.explain([[0, 1]]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: plots.nomogram(BayesClassifier(structure="tree").fit(FRAME, LABELS)), "independent given the class"),
        (lambda: plots.nomogram(POOL), 'use structure="naive"'),
        (lambda: plots.tree(POOL), 'structure="tree"'),
        (lambda: plots.means(POOL), "use a fitted BernoulliNB"),
        (
            lambda: plots.densities(POOL, column="?"),
            r"there are 'cost in \$ and more \$', '_hidden', 'a very [^,]*, 'n_x",
        ),
        *(
            (lambda draw=draw: draw(BayesClassifier(structure=Trees(5)).fit(FRAME, LABELS)), 'structure="naive"')
            for draw in (plots.nomogram, plots.posterior)
        ),
        (lambda: plots.nomogram(GaussianDiscriminant().fit(IRIS, SPECIES)), "independent given the class"),
        (lambda: plots.nomogram(GaussianNB(calibrate="temperature").fit(IRIS, SPECIES)), "calibrate=None"),
        (lambda: plots.nomogram(NAIVE, label="?"), "is not a class"),
        (lambda: plots.nomogram(NAIVE, label="_no", against="_no"), "two classes"),
        (lambda: plots.nomogram(NAIVE, row=0), "there is no X"),
        (lambda: plots.nomogram(NAIVE, FRAME, row=10**6), "not among the 240 rows"),
        (lambda: plots.nomogram(NAIVE, FRAME, most=0), "at least 1"),
        (lambda: plots.nomogram(GaussianNB().fit(IRIS[:50], SPECIES[:50])), "one class only"),
        (lambda: plots.waterfall(NAIVE.explain(FRAME[:1]), row=1), "not among the 1 rows"),
        (lambda: plots.densities(NAIVE, FRAME), "belong together"),
        (lambda: plots.densities(NAIVE, FRAME, LABELS[:3]), "a label for each row"),
        (lambda: plots.densities(NAIVE, column="?"), "was not learned"),
        (lambda: plots.densities(MultinomialNB().fit(DIGITS, DIGIT)), "draw means"),
        (lambda: plots.densities(MixtureClassifier().fit(IRIS, SPECIES)), "boundary"),
        (lambda: plots.means(MultinomialNB().fit(DIGITS[:, :6], DIGIT)), "pass shape="),
        (lambda: plots.means(MultinomialNB().fit(DIGITS, DIGIT), (9, 9)), "81 pixels"),
        (lambda: plots.means(NAIVE), "no means"),
        (lambda: plots.heat_map(GaussianNB().fit(IRIS, SPECIES).explain(IRIS[:1]), (1, 3)), "3 pixels"),
        (lambda: plots.boundary(GaussianNB().fit(IRIS, SPECIES), IRIS, SPECIES), "fitted on 4 columns"),
        (lambda: plots.boundary(GaussianNB(), IRIS, SPECIES), "not fitted"),
        (lambda: plots.boundary([], IRIS, SPECIES), "no model"),
        (lambda: plots.tree(NAIVE), "no tree"),
        (lambda: plots.tree(BayesClassifier(structure="full", numeric="gaussian").fit(IRIS, SPECIES)), "do not form"),
        (lambda: plots.confusion(["a"], ["a", "b"]), "one of each per row"),
        (lambda: plots.confusion([], []), "no rows"),
        (lambda: plots.confusion(SPECIES, GaussianNB().fit(IRIS, SPECIES)), "needs the rows"),
        (lambda: plots.learning_curve(GaussianNB(), IRIS, SPECIES, cv=60), "rarest class has 50"),
        (lambda: plots.marked_text(GaussianNB().fit(IRIS, SPECIES).explain(IRIS[:1]), "a text"), "no words"),
        (lambda: plots.posterior(Bernoulli), "no data"),
        (lambda: plots.posterior(Gaussian, Gaussian.tally(IRIS)), "several numbers at once"),
        (lambda: plots.posterior(MixtureClassifier().fit(IRIS, SPECIES)), "MixtureClassifier has no posterior to draw"),
        (lambda: plots.posterior(NAIVE, column="?"), "was not learned"),
        (lambda: plots.posterior(NAIVE, column="_hidden", level="?"), "is not a level of this column"),
        (lambda: plots.posterior(NAIVE, column="_hidden", parameter="mean"), "there is 'p'"),
        (lambda: plots.confusion(["a"], ["a"], X=[[1]]), "no use for X"),
    ],
)
def test_what_is_wrong_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: plots.nomogram(LogisticRegression().fit(IRIS, SPECIES)),
        lambda: plots.nomogram(GaussianNB),
        lambda: plots.waterfall(NAIVE),
        lambda: plots.newton(NAIVE),
        lambda: plots.tree(GaussianNB().fit(IRIS, SPECIES)),
        lambda: plots.posterior("p"),
        lambda: plots.densities(LogisticRegression().fit(IRIS, SPECIES)),
    ],
)
def test_what_is_of_the_wrong_kind_is_named(make):
    with pytest.raises(TypeError, match=r"needs a|is a class"):
        make()


@pytest.mark.parametrize("picture", [plots.nomogram, plots.densities, plots.means, plots.posterior, plots.tree])
def test_what_has_learned_nothing_is_named(picture):
    with pytest.raises(NotFittedError):
        picture(BayesClassifier())


@pytest.mark.parametrize("kind", ["pandas", "polars", "list", "sparse"])
def test_rows_of_every_kind(kind):
    from scipy.sparse import csr_matrix

    bits = (DIGITS > 7).astype(float)
    if kind == "polars":
        X = pytest.importorskip("polars").DataFrame(bits, schema=[f"p{j}" for j in range(64)])
    else:
        X = {
            "pandas": lambda: pd.DataFrame(bits).add_prefix("p"),
            "list": bits.tolist,
            "sparse": lambda: csr_matrix(bits),
        }
        X = X[kind]()
    model = BernoulliNB().fit(X, DIGIT)
    plots.nomogram(model, X, row=2, most=3)
    plots.densities(model, X, DIGIT, 20)
    plots.confusion(DIGIT, model, X)
    plots.learning_curve(model, X, DIGIT, cv=2, steps=2)


@pytest.mark.parametrize("most", [1, 3, 50])
def test_a_waterfall_ends_at_the_log_odds(most):
    explanation = NAIVE.explain(FRAME[:5])
    for row in range(5):
        ax = plots.waterfall(explanation, row, "_no", "$yes$", most)
        bars = ax.patches
        ends = [bar.get_x() + bar.get_width() for bar in bars]
        proba = explanation.log_proba[row]
        wanted = proba[explanation.classes.index("_no")] - proba[explanation.classes.index("$yes$")]
        assert ends[-2] == pytest.approx(wanted, abs=1e-9)
        assert ends[-1] == pytest.approx(wanted, abs=1e-9)
        for before, bar in zip(ends[:-2], bars[1:-1], strict=True):
            assert bar.get_x() == pytest.approx(before, abs=1e-9)


def test_densities_are_those_of_the_model():
    model = GaussianNB().fit(IRIS, SPECIES)
    ax = plots.densities(model, IRIS, SPECIES, 2)
    for k, line in enumerate(ax.lines):
        expected = stats.norm(model.theta_[k, 2], np.sqrt(model.var_[k, 2])).pdf(line.get_xdata())
        np.testing.assert_allclose(line.get_ydata(), expected, rtol=1e-9, atol=1e-12)
    full = GaussianDiscriminant().fit(IRIS, SPECIES)
    line = plots.densities(full, IRIS, SPECIES, 2).lines[0]
    sigma = np.broadcast_to(full.covariance_, (3, 4, 4))[0, 2, 2]
    np.testing.assert_allclose(line.get_ydata(), stats.norm(full.means_[0, 2], sigma**0.5).pdf(line.get_xdata()))


@pytest.mark.parametrize("structure", ["naive", "tree", "chain"])
@pytest.mark.parametrize("missing", ["skip", "level"])
def test_levels_and_bins_add_up_to_one(structure, missing):
    model = BayesClassifier(structure=structure, numeric="quantiles", missing=missing).fit(FRAME, LABELS)
    for title in FRAME.columns:
        scale = class_densities.density_of(model, model_columns.find_column(model, title), [])
        np.testing.assert_allclose(np.exp(scale.evidence).sum(axis=0), 1.0, atol=1e-9)
        plots.densities(model, FRAME, LABELS, title)
        plots.densities(model, column=title)
        plt.close("all")
    x, density = class_densities.density_steps(scale, np.array([]))
    np.testing.assert_allclose((np.diff(x)[:, None] * density[:-1]).sum(axis=0), 1.0, atol=1e-9)


def test_beliefs_are_before_and_after_the_data():
    flips = Bernoulli.tally([1] * 7 + [0] * 3)
    ax = posterior(Bernoulli, flips, Beta(4, 2))
    assert [line.get_label() for line in ax.lines] == ["prior: Beta(4, 2)", "posterior: Beta(11, 5)"]
    line = ax.lines[1]
    np.testing.assert_allclose(line.get_ydata(), stats.beta(11, 5).pdf(line.get_xdata()))
    assert posterior(Poisson, Poisson.tally([2, 0, 4]), 1.0).lines[0].get_label() == "prior: Gamma(1, 1)"
    assert posterior(Categorical, Categorical.tally([0, 0, 1, 2]), 1.0, level=0).lines[1].get_label().endswith("(3, 4)")
    assert len(posterior(Bernoulli, {"a": flips, "b": flips + flips}).lines) == 3
    assert len(posterior(Gaussian, Gaussian.tally([1.0, 2.0, 4.0])).lines) == 1
    assert len(posterior(stats.beta(3, 2), prior=stats.beta(1, 1)).lines) == 2
    assert posterior(stats.beta(3, 2), ax=plt.figure().add_subplot()).lines[0].get_label() == "posterior: Beta(3, 2)"


def test_beliefs_of_models():
    bits = BernoulliNB(alpha=2.0).fit(DIGITS > 7, DIGIT)
    ax = posterior(bits, column=20)
    ones = int((DIGITS[DIGIT == 0, 20] > 7).sum())
    zeros = int((DIGIT == 0).sum()) - ones
    assert [line.get_label() for line in ax.lines[:2]] == ["prior: Beta(2, 2)", f"0: Beta({2 + ones}, {2 + zeros})"]
    levels = CategoricalNB().fit(DIGITS.astype(int) // 4, DIGIT)
    assert posterior(levels, column=20, level=1).lines[0].get_label().startswith("prior: Beta(1,")
    assert len(posterior(GaussianNB().fit(IRIS, SPECIES), column=1, parameter="variance").lines) == 3
    assert posterior(PoissonNB().fit(DIGITS, DIGIT), column=20).lines[0].get_label() == "prior: Gamma(1, 1)"
    for column in FRAME.columns:
        posterior(NAIVE, column=column)
    assert "'_mid'" in posterior(NAIVE, column="_hidden", level="_mid").get_xlabel()


@pytest.mark.parametrize("kind", [BernoulliNB, GaussianNB, MultinomialNB, PoissonNB])
def test_means_are_the_classes(kind):
    model = kind().fit(DIGITS, DIGIT)
    ax = plots.means(model)
    image = ax.images[0].get_array()
    images, _ = pixel_images.class_means(model)
    tile = np.ma.filled(image, np.nan)[2:10, 0:8]
    np.testing.assert_allclose(tile, images[0].reshape(8, 8))
    assert plots.means(model, (4, 16), ax=plt.figure().add_subplot()) is not None


def test_a_boundary_is_where_two_classes_are_level():
    pair, two = SPECIES != "setosa", [0, 1]
    models = [
        GaussianNB().fit(IRIS[pair][:, two], SPECIES[pair]),
        GaussianDiscriminant().fit(IRIS[pair][:, two], SPECIES[pair]),
    ]
    axes = plots.boundary(models, IRIS[pair], SPECIES[pair])
    assert len(axes) == 2
    for ax, model in zip(axes, models, strict=True):
        contour = next(each for each in ax.collections if isinstance(each, matplotlib.contour.ContourSet))
        vertices = np.concatenate([path.vertices for path in contour.get_paths()])
        np.testing.assert_allclose(model.predict_proba(vertices)[:, 0], 0.5, atol=5e-3)
    own = plt.figure().add_subplot()
    assert plots.boundary(models[0], IRIS[pair], SPECIES[pair], ax=own) is own
    with pytest.raises(ValueError, match="pass 2"):
        plots.boundary(models, IRIS, SPECIES, ax=own)


def test_boundaries_of_frames_with_empty_cells_and_names():
    names = [FRAME.columns[0], FRAME.columns[3]]
    model = BayesClassifier(numeric="gaussian").fit(FRAME[names], LABELS)
    ax = plots.boundary(model, FRAME, LABELS, names)
    assert ax.get_xlabel() == r"cost in \$ and more \$"
    plots.boundary({"a $ of $": model}, FRAME, LABELS, names)


def test_arrows_of_a_tree_are_as_wide_as_their_information():
    bits = (DIGITS > 7)[:, [10, 11, 12, 18]]
    model = BayesClassifier(structure="tree").fit(bits, DIGIT)
    forest = dependency_tree.parents_of(model)
    nats = dependency_tree.edge_information(model, forest)
    assert len(nats) == 3
    for name, found in nats.items():
        parent, mine = forest[name][0], [np.asarray(DIGIT) == k for k in model.classes_]
        given = [mutual_info_score(bits[rows, name], bits[rows, parent]) * rows.mean() for rows in mine]
        assert found == pytest.approx(sum(given), abs=1e-9)
    widths = {text.arrow_patch.get_linewidth() for text in plots.tree(model).texts if hasattr(text, "arrow_patch")}
    assert max(widths) == pytest.approx(dependency_tree.WIDEST)
    numbers = BayesClassifier(structure="chain", numeric="gaussian").fit(IRIS, SPECIES)
    (covariance,) = (each.covariance for each in numbers.estimate_model().parameters)
    nats = dependency_tree.edge_information(numbers, dependency_tree.parents_of(numbers), "setosa")
    squared = covariance[0, 0, 1] ** 2 / (covariance[0, 0, 0] * covariance[0, 1, 1])
    assert nats[1] == pytest.approx(-0.5 * np.log(1 - squared))


def test_a_nomogram_is_sorted_by_range():
    ax, its = plots.nomogram(NAIVE, FRAME), plots.points(NAIVE, FRAME)
    by_range = [canvas.plain(its.scales[j].feature, 22) for j in np.argsort(-its.widths, kind="stable")]
    assert [text.get_text() for text in ax.texts if text.get_text() in by_range] == by_range


def test_the_axis_of_a_skewed_column_shows_most_rows():
    x = np.append(np.random.default_rng(0).exponential(size=198), [1000.0, 2000.0])[:, None]
    y = np.arange(200) % 2
    ax = plots.densities(BayesClassifier(structure="naive").fit(x, y), x, y)
    outside = (x[:, 0] > ax.get_xlim()[1]).mean()
    assert 0 < outside <= 0.05
    assert ax.get_xlabel() == f"column 0 ({100 * outside:.1f} % of the rows are outside)"


def test_a_tree_is_the_one_that_was_learned():
    model = BayesClassifier(structure="tree").fit((DIGITS > 7)[:, [10, 11, 12, 18, 19, 20, 26, 27, 28, 35]], DIGIT)
    parents = dependency_tree.parents_of(model)
    inner = next(each for each in model.estimate_model().parameters if hasattr(each, "parents"))
    names = model.estimate_model().columns[0].names
    assert [parents[name][0] for name in names] == [names[p] if p >= 0 else None for p in inner.parents[0]]
    ax = plots.tree(model)
    assert len(ax.texts) == 2 * len(parents) - 1  # a box each, and an arrow to each but the root
    line = BayesClassifier(structure="chain", numeric="gaussian").fit(IRIS, SPECIES)
    assert dependency_tree.parents_of(line) == {0: (None, True), 1: (0, True), 2: (1, True), 3: (2, True)}
    plots.tree(BayesClassifier(structure="chain").fit(FRAME, LABELS))
    each = BayesClassifier(structure=Tree("per-class"), numeric="gaussian").fit(IRIS, SPECIES)
    plots.tree(each, "setosa")


def test_no_two_boxes_of_a_tree_lie_on_each_other():
    children = {None: ["a", "z"], "a": ["b", "c"], "c": ["d", "e"], "e": ["f"]}
    places = list(dependency_tree.lay_out(children).values())
    assert len(set(places)) == len(places)


def test_newton_draws_the_trace():
    model = LogisticRegression().fit(IRIS, SPECIES)
    line = plots.newton(model).lines[0]
    assert line.get_ydata().tolist() == [each["gradient"] for each in model.trace_]


def test_confusion_counts():
    model = GaussianNB().fit(IRIS, SPECIES)
    ax = plots.confusion(SPECIES, model, IRIS)
    counted = {tuple(map(float, text.get_position())): int(text.get_text()) for text in ax.texts}
    said = model.predict(IRIS)
    assert counted[(2.0, 1.0)] == int(((SPECIES == "versicolor") & (said == "virginica")).sum())
    assert sum(counted.values()) == 150
    plots.confusion(SPECIES, model.predict(IRIS, reject_below=0.9))
    letters = np.array([f"_class ${k}" for k in range(40)])
    plots.confusion(letters, letters[::-1])


def test_partial_sums_learn_as_much_as_all_at_once():
    found = plots.learning(GaussianNB(), IRIS, SPECIES)
    assert found.held_out.shape == found.learned.shape == (len(found.sizes), 5)
    assert found.sizes[-1] == 120
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    np.testing.assert_allclose(found.held_out[-1], cross_val_score(GaussianNB(), IRIS, SPECIES, cv=folds))
    ax = plots.learning_curve(BayesClassifier(structure="naive"), FRAME, LABELS, cv=3, steps=3)
    assert len(ax.lines) == 2
    plots.learning_curve(LogisticRegression(), IRIS, SPECIES, cv=2, steps=2)


def test_a_heat_map_adds_up():
    explanation = BernoulliNB(binarize=7.0).fit(DIGITS, DIGIT).explain(DIGITS[:4])
    ax = plots.heat_map(explanation, row=3)
    image = np.asarray(ax.images[0].get_array())
    log_odds = explanation.log_odds(3)
    assert image.sum() == pytest.approx(sum(nats for _, _, nats in log_odds[1:]), abs=1e-9)
    with pytest.warns(UserWarning, match="columns left out: 0"):
        model = BayesClassifier(structure="naive").fit(DIGITS, DIGIT)
    assert plots.heat_map(model.explain(DIGITS[:1]), (8, 8)).images[0].get_array()[0, 0] == 0


def test_words_are_marked_by_what_they_say():
    texts = [
        "win $5 now, win a $prize$ today",
        "see you at home later today",
        "win cash now please do",
        "be home soon, my dear",
    ]
    model = BayesClassifier(structure="naive", families={"text": "text"})
    model.fit(pd.DataFrame({"text": texts}), ["spam", "ham", "spam", "ham"])
    explanation = model.explain(pd.DataFrame({"text": texts[:1]}))
    ax = plots.marked_text(explanation, texts[0])
    assert [text.get_text() for text in ax.texts] == texts[0].split()
    words = sum(nats for name, _, nats in explanation.log_odds(0) if name.startswith("text: "))
    assert f"words {signed(words)} nats" in ax.get_title(loc="left")
    plots.marked_text(explanation, ax=plt.figure().add_subplot())
    with pytest.raises(ValueError, match="the text is empty"):
        plots.marked_text(explanation, " ")


PICTURES = {
    "nomogram": lambda ax: plots.nomogram(NAIVE, FRAME, row=0, ax=ax),
    "waterfall": lambda ax: plots.waterfall(NAIVE.explain(FRAME[:2]), 1, ax=ax),
    "densities": lambda ax: plots.densities(NAIVE, FRAME, LABELS, FRAME.columns[1], ax=ax),
    "posterior": lambda ax: plots.posterior(NAIVE, column=FRAME.columns[0], ax=ax),
    "means": lambda ax: plots.means(GaussianNB().fit(RNG.random((90, 4)), np.repeat(LABELS[:30], 3)), ax=ax),
    "tree": lambda ax: plots.tree(BayesClassifier(structure="tree").fit(FRAME, LABELS), ax=ax),
    "newton": lambda ax: plots.newton(LogisticRegression().fit(IRIS, SPECIES), ax=ax),
    "confusion": lambda ax: plots.confusion(LABELS, NAIVE, FRAME, ax=ax),
    "learning_curve": lambda ax: plots.learning_curve(GaussianNB(), IRIS, SPECIES, 2, 2, ax=ax),
    "heat_map": lambda ax: plots.heat_map(NAIVE.explain(FRAME[:1]), (2, 2), ax=ax),
    "drift": lambda ax: plots.drift(suffice.drift(NAIVE, FRAME[:100]).table, ax),
    "over_time": lambda ax: plots.over_time([10, 10], [0.5, 0.7], ax=ax),
    "comparison": lambda ax: plots.comparison(
        [
            {
                "model": "_a $ $",
                "log_loss_verdict": "best",
                "log_loss": 0.1,
                "log_loss_half_width": 0.01,
                "accuracy": 0.9,
            }
        ],
        ax,
    ),
    "reliability": lambda ax: plots.reliability(
        {"_a $ $": suffice.decision.reliability.Reliability.of(np.array([0.9, 0.6]), np.array([1.0, 0.0]))}, ax
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_drawn_on_the_axes_given(name):
    figure, axes = plt.subplots(1, 2)
    assert PICTURES[name](axes[1]) is axes[1]
    assert not axes[0].has_data()
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_drawn_on_axes_of_their_own(name, tmp_path):
    PICTURES[name](None).figure.savefig(tmp_path / "picture.svg")


def test_many_classes():
    labels = np.array([f"class {k}" for k in range(40)])[RNG.integers(0, 40, 800)]
    X = RNG.random((800, 2))
    model = GaussianNB().fit(X, labels)
    plots.boundary(model, X, labels)
    plots.densities(model, X, labels)
    plots.posterior(model)
    plots.nomogram(model, X, row=1)
    plots.means(model, (1, 2))


def test_names_are_shown_as_they_are():
    assert canvas.plain("a\nb") == "a b"
    assert len(canvas.plain("x" * 100)) == 28
    ax = plt.figure().add_subplot()
    text = ax.text(0, 0, canvas.plain("$a_b$ and $"))
    assert text._preprocess_math(text.get_text()) == ("$a_b$ and $", False)


@pytest.mark.parametrize("name", plots.__all__)
def test_every_parameter_is_documented(name):
    documented = getattr(plots, name).__doc__
    for parameter in inspect.signature(getattr(plots, name)).parameters:
        assert re.search(rf"^ +(\w+, )*{parameter}(, \w+)* :", documented, re.M), parameter


def test_all_names_are_there():
    for name in plots.__all__:
        if name != "Axes":
            assert callable(getattr(plots, name)), name
    assert {"comparison", "nomogram"} <= set(dir(plots))
    with pytest.raises(AttributeError, match="no attribute 'pie'"):
        plots.pie  # noqa: B018


def test_all_names_can_be_imported() -> None:
    names: dict[str, Any] = {}
    exec("from suffice.plots import *", names)
    assert callable(names["confusion"])
    assert "Axes" not in names


def test_a_text_has_no_density_and_truth_has_its_words() -> None:
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["aa", "bb", "cc", "dd", "ee", "ff"], 5)) for _ in range(60)]
    table = pd.DataFrame({"flag": rng.random(60) > 0.5, "note": words, "wide": rng.normal(size=60) * 1e6})
    y = np.where(table["flag"], "yes", "no")
    model = BayesClassifier(structure="naive", numeric="mdl").fit(table, y)
    with pytest.raises(ValueError, match="note is a text"):
        plots.densities(model, table, y, "note")
    ticks = [tick.get_text() for tick in plots.densities(model, table, y, "flag").get_xticklabels()]
    assert ticks == ["False", "True"]
    x, heights = plots.densities(model, table, y, "wide").lines[0].get_data()
    assert np.ptp(x) * heights[0] == pytest.approx(1.0)  # a bin without edges is as wide as the rows


def drawn_within(ax: Any) -> bool:
    """Say whether a title is wholly on its picture."""
    ax.figure.canvas.draw()
    box = ax._left_title.get_window_extent()
    return bool(box.x0 >= 0 and box.x1 <= ax.figure.bbox.x1)


def test_titles_and_names_fit() -> None:
    assert drawn_within(plots.confusion(["zero"] * 1500, ["zero"] * 1500))
    assert drawn_within(plots.confusion(["a rather long name"] * 1500 + ["b"], ["b"] * 1501))
    rng = np.random.default_rng(0)
    for count in (30, 60):
        y = np.repeat([f"class number {k:02}" for k in range(count)], 5)
        X = rng.normal(size=(len(y), 2)) + np.repeat(np.arange(count), 5)[:, None]
        ax = plots.boundary(suffice.GaussianNB().fit(X, y), X, y)
        ax.figure.canvas.draw()
        if count == 30:
            assert [text.get_text() for text in ax.get_legend().get_texts()] == sorted(set(y))
            looks = {
                (str(its.get_facecolor()), its.get_paths()[0].vertices.tobytes())
                for its in ax.collections
                if its.get_label() in y
            }
            assert len(looks) == 30
        else:
            boxes = [text.get_window_extent() for text in ax.texts]
            assert len(boxes) > 5
            assert not any(a.overlaps(b) for n, a in enumerate(boxes) for b in boxes[:n])
    assert canvas.plain("the first of two long names", 12) != canvas.plain("the first of two long nouns", 12)
    table = pd.DataFrame({"a_very_long_column_name_that_goes_on_and_on_and_never_ends": rng.normal(size=60) * 1e6})
    model = suffice.GaussianNB().fit(table, [0, 1] * 30)
    ax = plots.densities(model, table, np.array([0, 1] * 30), 0)
    ax.figure.canvas.draw()
    assert not ax.xaxis.label.get_window_extent().overlaps(ax.xaxis.get_offset_text().get_window_extent())


def test_a_density_without_a_covariance():
    model = GaussianDiscriminant(covariance="shared", solver="svd").fit(IRIS, SPECIES)
    for line in plots.densities(model, IRIS, SPECIES).lines:
        assert 0.9 < np.trapezoid(line.get_ydata(), line.get_xdata()) < 1.01


def test_reliability_of_models() -> None:
    model = GaussianNB(calibrate="temperature").fit(IRIS, SPECIES)
    ax = plots.reliability({"a": model})
    curve = model.calibration_.reliability["after"]
    assert ax.get_legend().get_texts()[1].get_text() == f"a (error {curve.error:.3f})"
    with pytest.raises(ValueError, match=r"'a' is a model without calibration.*fit it with calibrate"):
        plots.reliability({"a": GaussianNB().fit(IRIS, SPECIES)})
    with pytest.raises(NotFittedError):
        plots.reliability({"a": GaussianNB()})
    with pytest.raises(TypeError, match="'a' is a list; pass a reliability curve or a fitted model"):
        plots.reliability({"a": [0.5]})
    with pytest.raises(TypeError, match=r"takes {name: curve}, not GaussianNB"):
        plots.reliability(model)
