"""The report in a browser: its computations, its controls, and that it loads nothing from outside."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from sklearn.datasets import load_digits, load_iris

from cases import column_of
from half_normal import HalfNormal
from suffice import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    Joint,
    LogisticRegression,
    MixtureClassifier,
    MultinomialNB,
    PoissonNB,
    Tree,
    report,
)
from suffice.demo import write_page
from suffice.families import FAMILIES, register
from suffice.images import deskew
from suffice.report.inputs import plain_value
from suffice.schema import Partition
from suffice.structures.pooled import Pooled
from suffice.structures.trees import Trees

ROWS = 200

# 100 digits, drawn once: polylines of points from 0 to 1000.
STROKES = json.loads((Path(__file__).parent / "digit_strokes.json").read_text())


@pytest.fixture
def opened(open_page, tmp_path):
    """Return a function that opens the report on a model."""

    def opens(model, X=None, y=None, title=None, **settings):
        path = report.write(model, tmp_path / f"{len(list(tmp_path.iterdir()))}.html", X, y, title)
        assert path.stat().st_size < 12_000_000
        page = open_page(path, **settings)
        page.wait_for_function("document.documentElement.dataset.ready")
        return page

    return opens


def mixed(rows=600, seed=0):
    """Return a table with columns of all kinds and empty cells, and its labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    table = pd.DataFrame(
        {
            "height": rng.normal(y * 1.5, 1.0),
            "width": rng.normal(y, 2.0) + rng.normal(0, 1, rows),
            "skewed": rng.exponential(1 + y),
            "colour": np.array(["red", "green", "blue", "grey"])[(y + rng.integers(0, 3, rows)) % 4],
            "shape": np.array(["round", "flat", "long"])[(y + rng.integers(0, 2, rows)) % 3],
            "old": rng.random(rows) < 0.2 + 0.3 * y,
            "stars": rng.poisson(1 + y),
        }
    )
    for name in table.columns:
        table[name] = table[name].astype(object).where(rng.random(rows) > 0.08, None)
    for name in ("height", "width", "skewed", "stars"):
        table[name] = table[name].astype(float)
    return table, np.array(["a", "b", "c"])[y]


def unseen(table):
    """Return the rows with unknown levels in some of them."""
    table = table.copy()
    table.loc[table.index[::7], "colour"] = "violet"
    table.loc[table.index[3::11], "stars"] = 99.0
    table.loc[table.index[5::13], "shape"] = "new"
    return table


def cells(X):
    rows = X.to_numpy(object).tolist() if hasattr(X, "to_numpy") else np.asarray(X).tolist()
    return [[plain_value(value) for value in row] for row in rows]


def check(page, model, X):
    """Compare probabilities and contributions of the page with those of the model."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.predict_proba(X)
        joint = model.predict_joint_log_proba(X)
        explained = model.explain(X[:20])
    found = np.array(page.evaluate("rows => rows.map(suffice.probabilities)", cells(X)), float)
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=0)
    said = page.evaluate("rows => rows.map(suffice.explain)", cells(X[:20]))
    added = np.array([its["prior"] for its in said]) + np.array(
        [np.sum([part["added"] for part in its["contributions"]], axis=0) for its in said]
    )
    np.testing.assert_allclose(np.array([its["logJoint"] for its in said]), joint[:20], rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(added, joint[:20], rtol=1e-9, atol=1e-7)
    if "text" in getattr(model, "families_", {}).values():
        return
    for row, its in enumerate(said):
        parts = sorted(its["contributions"], key=lambda part: part["feature"])
        ours = np.array([part["added"] for part in parts]).T
        np.testing.assert_allclose(ours, explained.contributions[row], rtol=1e-7, atol=1e-7)


TABLES = {
    "pool": BayesClassifier(),
    "pool, mle": BayesClassifier(estimate="mle"),
    "pool, missing skipped": BayesClassifier(missing="skip", unseen="ignore"),
    "pool, isotonic": BayesClassifier(calibrate="isotonic"),
    "pool without trees": BayesClassifier(structure=Pooled(("naive", "tree", "full"))),
    "trees": BayesClassifier(structure=Trees(30)),
    "averaged": BayesClassifier(structure="averaged"),
    "naive": BayesClassifier(structure="naive"),
    "naive, gaussian": BayesClassifier(structure="naive", numeric="gaussian", families={"stars": "poisson"}),
    "predictive": BayesClassifier(structure="naive", estimate="predictive", families={"stars": "poisson"}),
    "tree": BayesClassifier(structure="tree"),
    "tree of each class": BayesClassifier(structure=Tree("per-class")),
    "chain": BayesClassifier(structure="chain", numeric="quantiles"),
    "full": BayesClassifier(structure="full"),
    "full, predictive": BayesClassifier(structure="full", estimate="predictive"),
    "mle": BayesClassifier(structure="naive", estimate="mle"),
    "averaged, unseen ignored": BayesClassifier(structure="averaged", unseen="ignore"),
    "naive, unseen ignored": BayesClassifier(structure="naive", unseen="ignore"),
    "tree, unseen ignored": BayesClassifier(structure="tree", unseen="ignore"),
    "temperature": BayesClassifier(structure="naive", calibrate="temperature"),
    "vector": BayesClassifier(structure="naive", calibrate="vector"),
    "isotonic": BayesClassifier(structure="naive", calibrate="isotonic"),
}


@pytest.mark.parametrize("classes", [2, 3])
def test_page_computes_a_logistic_regression(opened, classes):
    X, y = load_iris(return_X_y=True)
    X, y = X[y < classes], y[y < classes]
    model = LogisticRegression().fit(X, y)
    page = opened(model)
    found = np.array(page.evaluate("rows => rows.map(suffice.probabilities)", cells(X)), float)
    np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-9, rtol=0)
    for its, expected in zip(
        page.evaluate("rows => rows.map(suffice.explain)", cells(X[:9])),
        model.explain(X[:9]).contributions,
        strict=True,
    ):
        parts = sorted(its["contributions"], key=lambda part: part["feature"])
        np.testing.assert_allclose(np.array([part["added"] for part in parts]).T, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_page_computes_models_of_tables(opened, name):
    table, y = mixed()
    model = TABLES[name].fit(table, y)
    check(opened(model), model, unseen(mixed(ROWS, 1)[0]))


def test_page_computes_trees_of_weighted_rows_and_of_levels_that_came_later(opened):
    table, y = mixed()
    model = BayesClassifier().fit(table[:400], y[:400], np.linspace(0.1, 3, 400))
    later = unseen(table[400:])
    later.loc[later.index[::5], "shape"] = "a level before all others"
    check(opened(model.partial_fit(later, y[400:])), model, unseen(mixed(ROWS, 1)[0]))


def test_page_computes_a_sum_of_trees_that_were_planned_apart(opened):
    table, y = mixed()
    parts = [BayesClassifier(structure=Trees(8)).fit(table[rows], y[rows]) for rows in (slice(100), slice(100, None))]
    model = parts[0] + parts[1]
    assert model.tally_.schema.forest.count == 16
    check(opened(model), model, unseen(mixed(ROWS, 1)[0]))


def depth_first(tree):
    """Return the same tree with its nodes in another order."""
    nodes, child, stack = [0], {}, [0]
    while stack:
        node = stack.pop()
        if tree.column[node] >= 0:
            child[node], pair = len(nodes), [int(tree.child[node]), int(tree.child[node]) + 1]
            nodes += pair
            stack += pair
    children = np.array([child.get(node, 0) for node in nodes], np.int32)
    return Partition(tree.inputs, tree.column[nodes], tree.threshold[nodes], children)


def test_page_computes_trees_whose_nodes_are_in_any_order(opened):
    table, y = mixed()
    model = BayesClassifier(structure=Trees(20)).fit(table, y)
    *others, forest = model.plan_.blocks
    plan = replace(model.plan_, blocks=(*others, forest.recoded(tuple(map(depth_first, forest.codings)))))
    other = BayesClassifier(structure=Trees(20), plan=plan).fit(table, y)
    rows = unseen(mixed(ROWS, 1)[0])
    np.testing.assert_allclose(other.predict_proba(rows), model.predict_proba(rows), rtol=1e-12)
    check(opened(other), model, rows)


def test_page_computes_a_forest_of_many_nodes(opened):
    X, y = load_digits(return_X_y=True)
    table = pd.DataFrame(X[:, 10:30]).rename(columns=str)
    model = BayesClassifier(structure=Pooled(("naive", "trees"))).fit(table[:1200], y[:1200])
    (forest,) = (its.forest for its in model.estimate_model().components if its.forest)
    assert forest.count == 200
    assert forest.width > 30_000
    check(opened(model), model, table[-ROWS:])


@pytest.mark.parametrize("rule", ["mle", "mean", "predictive"])
def test_page_computes_a_family_that_is_registered(opened, rule):
    table, y = mixed()
    table["events"] = np.abs(np.random.default_rng(2).normal(0, 1 + np.unique(y, return_inverse=True)[1]))
    register(HalfNormal())
    try:
        model = BayesClassifier(structure="naive", families={"events": "half-normal"}, estimate=rule)
        page = opened(model.fit(table, y), table, y)
        check(page, model, table[:ROWS])
        before = shown(page)
        page.get_by_label("events, as a number").fill("40")
        page.keyboard.press("Tab")
        assert shown(page) != before
        assert len(opened_values(page, "events")) > 2
    finally:
        del FAMILIES["half-normal"]


@pytest.mark.parametrize("rule", ["mle", "mean", "predictive"])
@pytest.mark.parametrize("family", ["geometric", "negative-binomial", "binomial(8)"])
def test_page_computes_families_of_counts(opened, family, rule):
    table, y = mixed()
    table["events"] = column_of(family)(np.random.default_rng(2), np.unique(y, return_inverse=True)[1])
    model = BayesClassifier(structure="naive", families={"events": family}, estimate=rule)
    page = opened(model.fit(table, y), table, y)
    check(page, model, table[:ROWS])
    found = []
    for value in ("2", "6"):
        page.get_by_label("events, as a number").fill(value)
        page.keyboard.press("Tab")
        found.append(shown(page))
    assert found[0] != found[1]
    assert len(opened_values(page, "events")) > 2


@pytest.mark.parametrize("rule", ["mle", "mean", "predictive"])
def test_page_computes_functions_of_numbers(opened, rule):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    table = pd.DataFrame(
        {"wait": rng.exponential(1 + y), "size": np.exp(rng.normal(y)), "wind": rng.normal(40 * y) % 360}
    )
    table["rain"] = rng.gamma(1 + y, 2.0)
    families = {"wait": "exponential", "size": "log-normal", "wind": "von-mises(360)", "rain": "gamma"}
    other = {"gamma": "map", "von-mises(360)": "map"}
    rules = other | {"exponential": rule, "log-normal": rule}
    model = BayesClassifier(structure="naive", families=families, estimate=rules).fit(table, y)
    check(opened(model, table, y), model, table[:ROWS].mask(rng.random(table[:ROWS].shape) < 0.1))


IMAGES = {
    "bits": BernoulliNB(binarize=7.5),
    "gaussian": GaussianNB(var_smoothing=0.1),
    "counts": MultinomialNB(),
    "counts, predictive": MultinomialNB(estimate="predictive"),
    "complement": ComplementNB(),
    "poisson": PoissonNB(),
    "levels": CategoricalNB(min_categories=17),
    "full": GaussianDiscriminant(shrinkage=0.1),
    "shared": GaussianDiscriminant(covariance="shared", shrinkage=0.1),
    "student": GaussianDiscriminant(estimate="predictive", shrinkage=0.1),
}


@pytest.mark.parametrize("name", IMAGES)
def test_page_computes_models_of_digits(opened, name):
    X, y = load_digits(return_X_y=True)
    model = IMAGES[name].fit(X[:1200], y[:1200])
    check(opened(model), model, X[-ROWS:])


@pytest.mark.parametrize("family", ["gaussian", "bernoulli"])
def test_page_computes_mixtures(opened, family):
    X, y = load_digits(return_X_y=True)
    X, y = X[y < 4, 18:30], y[y < 4]
    model = MixtureClassifier(components=2, family=family, binarize=7.5, shrinkage=0.1, random_state=0).fit(X, y)
    check(opened(model), model, X[:50])


def test_page_computes_combinations_of_levels(opened):
    table, y = mixed()
    discrete = ["old", "colour", "shape"]
    model = BayesClassifier(structure=Joint()).fit(table[discrete], y)
    rows = unseen(mixed(ROWS, 1)[0])[discrete]
    check(opened(model), model, rows)


def test_page_computes_gaussians_of_low_rank(opened):
    X, y = load_digits(return_X_y=True)
    model = GaussianDiscriminant(covariance="shared", solver="svd").fit(X[:1200], y[:1200])
    found = opened(model).evaluate("rows => rows.map(suffice.probabilities)", cells(X[-ROWS:]))
    np.testing.assert_allclose(found, model.predict_proba(X[-ROWS:]), atol=1e-6, rtol=0)


def test_page_reads_texts(opened):
    texts = [
        "Free CALL now, free prize",
        "see you at home",
        "call me at home, ok?",
        "win a prize: free café été_1",
        "",
    ] * 8
    table = pd.DataFrame({"message": texts, "length": [len(text) / 3 for text in texts]})
    y = ["spam", "ham", "ham", "spam", "ham"] * 8
    model = BayesClassifier(families={"message": "text"}, structure="naive").fit(table, y)
    page = opened(model, table, y[::-1])
    check(page, model, table)
    error = page.locator("#wrong li").first  # the words of a message that was misclassified
    marked = {word.lower() for word in error.locator("mark").all_inner_texts()}
    assert marked & {"free", "prize", "home", "call"}
    assert error.locator("mark").first.get_attribute("title").endswith(" nats")
    page.locator("details.feature", has_text="message").locator("summary").click()
    assert "prize" in page.locator("dl.words").inner_text()
    words = page.get_by_role("group", name="Important words of message").locator("tbody th").all_inner_texts()
    importance = model.explain(table).importance
    assert f"message: {words[0]}" == max((name for name in importance if ":" in name), key=importance.get)
    for text, label in (("see you at home", "ham"), ("free prize, free call", "spam")):
        page.get_by_label("message", exact=True).fill(text)
        shown(page)
        assert f": {label} (" in page.locator("#live-status").inner_text()


def shown(page):
    page.wait_for_timeout(60)
    return page.locator(".outcome").inner_text()


def opened_values(page, name):
    """Open a feature and return the lines of the table of its values."""
    page.locator("details.feature", has_text=name).locator("summary").click()
    lines = page.get_by_role("group", name=f"Values of {name}").locator("tbody tr")
    lines.first.wait_for()
    return lines.all_inner_texts()


def test_sliders_and_menus_move_the_probabilities(opened):
    table, y = mixed()
    page = opened(BayesClassifier().fit(table, y), table, y)
    seen = [shown(page)]
    page.get_by_label("colour", exact=True).select_option("(unknown level)")
    seen.append(shown(page))
    page.get_by_label("colour", exact=True).select_option("(missing)")
    seen.append(shown(page))
    slider = page.get_by_label("height", exact=True)
    slider.focus()
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    seen.append(shown(page))
    page.get_by_label("height, as a number").fill("-3")
    page.keyboard.press("Tab")
    seen.append(shown(page))
    page.locator("#feature-0-empty").focus()
    page.keyboard.press("Space")
    seen.append(shown(page))
    page.get_by_role("button", name="Another example").press("Enter")
    seen.append(shown(page))
    assert len(set(seen)) == len(seen)
    assert page.locator("#live-contributions .line-of").count() > 1


def test_drawing_pad_works_by_mouse_and_by_keyboard(opened):
    X, y = load_digits(return_X_y=True)
    page = opened(GaussianDiscriminant(shrinkage=0.2).fit(deskew(X), y), deskew(X), y)
    status = page.locator("#live-status")
    empty = shown(page)
    assert status.inner_text() == ""  # an empty pad says nothing
    assert "%" not in empty
    (seven,) = [its["strokes"] for its in STROKES if its["digit"] == 7 and len(its["strokes"]) == 1][:1]
    box = page.locator("#pad").bounding_box()
    for stroke in seven:
        places = [(box["x"] + x / 1000 * box["width"], box["y"] + y / 1000 * box["height"]) for x, y in stroke]
        page.mouse.move(*places[0])
        page.mouse.down()
        for place in places[1:]:
            page.mouse.move(*place)
        page.mouse.up()
    shown(page)
    assert "Prediction: 7" in status.inner_text()
    page.get_by_role("button", name="Undo").click()
    assert shown(page) == empty
    page.locator("#pad").focus()
    for key in ("Space", *["ArrowDown"] * 8, "Space"):
        page.keyboard.press(key)
    shown(page)
    assert "Prediction: 1" in status.inner_text()
    page.get_by_role("button", name="Clear").press("Enter")
    assert shown(page) == empty
    page.get_by_role("button", name="Another example").click()
    assert "%" in shown(page)
    assert page.locator("#features canvas").count() == 11  # the mean image of each class, and the importance of pixels
    assert page.locator("main > section").first.get_attribute("id") == "live"


def test_demonstration_recognises_drawn_digits(browser, tmp_path):
    page = browser.new_page()
    page.goto(write_page(str(tmp_path / "digits.html")).as_uri())
    page.wait_for_function("document.documentElement.dataset.ready")
    found = page.evaluate(
        """drawings => drawings.map((strokes) => {
            const image = suffice.image(strokes.map((stroke) => stroke.map(([x, y]) => [x / 1000, y / 1000])));
            const row = suffice.engine.features.map((its, i) => valueOfInk(its, image[i], data.images.drawing.darkest));
            const shares = suffice.probabilities(row);
            return shares.indexOf(Math.max(...shares));
        })""",
        [its["strokes"] for its in STROKES],
    )
    page.close()
    assert sum(digit == its["digit"] for digit, its in zip(found, STROKES, strict=True)) >= 95


def test_page_straightens_images_as_the_transformer_does(opened):
    X, y = load_digits(return_X_y=True)
    page = opened(BernoulliNB(binarize=7.5).fit(X, y))
    found = page.evaluate("images => images.map((image) => deskew(image, 8))", X[:50].tolist())
    np.testing.assert_allclose(found, deskew(X[:50]), atol=1e-9)


def two_classes():
    """Return a model of two classes, and rows that it has not learned."""
    table, y = mixed()
    y = np.where(y == "c", "c", "other")
    model = BayesClassifier(structure="naive", calibrate="temperature").fit(table[:400], y[:400])
    return model, table[400:], y[400:]


def test_threshold_moves_the_confusion_matrix_and_the_cost(opened):
    model, X, y = two_classes()
    page, is_other = opened(model, X, y), y == "other"
    p = model.predict_proba(X)[:, 1]
    numbers = "[...document.querySelectorAll('#threshold-result td')].slice(1).map((its) => Number(its.innerText) || 0)"
    for place in (50, 80):
        page.locator("#threshold-slider").fill(str(place))
        said = p >= place / 100
        pairs = ((is_other & said), (is_other & ~said), (~is_other & said), (~is_other & ~said))
        assert page.evaluate(numbers) == [each.sum() for each in pairs]
    figures = page.locator("#threshold-result .figure strong").all_inner_texts()
    assert figures[1] == f"{100 * pairs[0].sum() / is_other.sum():.1f} %"  # recall
    assert figures[4] == str(pairs[1].sum() + pairs[2].sum())  # cost
    page.get_by_label("Cost of a false positive").fill("10")
    page.keyboard.press("Tab")
    page.locator("#least-cost").click()
    costs = [10 * (~is_other & (p >= t / 100)).sum() + (is_other & (p < t / 100)).sum() for t in range(101)]
    assert page.locator("#threshold-result .figure strong").nth(4).inner_text() == f"{min(costs):,}"
    assert page.locator("#threshold .chart").count() == 2


def test_cells_of_the_matrix_lead_to_rows_and_to_the_panel(opened):
    model, X, y = two_classes()
    page = opened(model, X, y)
    page.get_by_role("button", name="True c, predicted other").click()
    items = page.locator("#threshold .rows li")
    assert items.count() > 0
    row = int(items.first.locator("strong").inner_text().removeprefix("Row "))
    assert (y[row], model.predict(X[row : row + 1])[0]) == ("c", "other")
    items.first.get_by_role("button", name="Try row").press("Enter")
    shown(page)
    assert "Prediction: other" in page.locator("#live-status").inner_text()
    assert "other compared with c" in page.locator(".outcome").inner_text()


def test_contributions_sum_to_the_calibrated_log_odds(opened):
    table, y = mixed()
    for method in ("temperature", "vector", "isotonic"):
        model = BayesClassifier(structure="naive", calibrate=method).fit(table, y)
        found = opened(model).evaluate(
            "rows => rows.map((row) => { const { prior, parts } = logOddsParts(suffice.engine, row, 2, 0);"
            " return prior + sum(parts.map((part) => part.nats)); })",
            cells(table[:30]),
        )
        log_proba = model.predict_log_proba(table[:30])
        np.testing.assert_allclose(found, log_proba[:, 2] - log_proba[:, 0], atol=1e-8)


def test_panel_warns_of_values_without_support(opened):
    table, y = mixed()
    table.loc[:1, "shape"] = "rare"
    page = opened(BayesClassifier(structure="naive").fit(table, y), table, y)
    assert page.locator("#live-warnings").count() == 0
    page.get_by_label("height, as a number").fill("200")
    page.keyboard.press("Tab")
    assert "height = 200 is outside of" in shown(page)
    page.get_by_label("shape", exact=True).select_option("rare")
    assert "only 2 training rows" in shown(page)
    page.get_by_label("colour", exact=True).select_option("(unknown level)")
    assert "colour: the model has not learned this level" in shown(page)


def test_charts_are_saved_as_tables_and_pictures(opened, tmp_path):
    model, X, y = two_classes()
    page = opened(model, X, y)
    opened_values(page, "height")
    shown(page)
    names = page.get_by_role("button", name="as PNG").evaluate_all("all => all.map((its) => its.ariaLabel)")
    assert {"Save Calibration as PNG", "Save Subgroups as PNG", "Save height as PNG", "Save Drift as PNG"} <= {*names}
    for name in names:
        with page.expect_download() as found:
            page.get_by_role("button", name=name, exact=True).click()
        found.value.save_as(tmp_path / "chart.png")
        with Image.open(tmp_path / "chart.png") as image:
            assert len(image.getcolors(1 << 24)) > 2  # there is something to see
    with page.expect_download() as found:
        page.get_by_role("button", name="Save height as CSV").click()
    found.value.save_as(tmp_path / "height.csv")
    saved = pd.read_csv(tmp_path / "height.csv")
    assert saved["training rows"].sum() == 400
    assert saved["rows of other"].sum() == (model.tally_.class_count[1])


def test_features_are_opened_with_their_shape(opened):
    table, y = mixed()
    model = BayesClassifier().fit(table, y)
    page = opened(model, table, y)
    page.locator("#features select").select_option("b")
    blue = next(line.split("\t") for line in opened_values(page, "colour") if line.startswith("blue"))
    is_blue = (table["colour"] == "blue").to_numpy()
    assert blue[1] == str(is_blue.sum())
    assert blue[2].startswith(f"{100 * (y[is_blue] == 'b').mean():.1f} %")
    places = page.evaluate("data.shown.examples.slice(0, 20).map((place) => data.shown.rows[place].row)")
    expected = model.predict_proba(table.iloc[places].assign(colour="blue"))[:, 1].mean()
    assert blue[3] == f"{100 * expected:.1f} %"


def test_thousand_columns_stay_usable_on_a_phone(opened):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 150)
    X = rng.normal(size=(150, 1000))
    X[:, :20] += y[:, None]
    names = [f"measurement_of_gene_number_{place:04d}_of_the_assay" for place in range(1000)]
    table = pd.DataFrame(X, columns=names)
    model = BayesClassifier(structure="naive").fit(table[:100], y[:100])
    page = opened(model, table[100:], y[100:], viewport={"width": 375, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    assert page.evaluate("document.documentElement.scrollHeight") < 15_000
    assert page.locator("details.feature").count() < 20
    assert "1,000 features" in page.locator("#features").inner_text()
    page.get_by_label("Search features").fill("0777")
    assert page.locator("details.feature strong").all_inner_texts() == [names[777]]
    page.get_by_label("Search inputs").fill("0777")
    before = shown(page)
    page.get_by_label(f"{names[777]}, as a number").fill("-9")
    page.keyboard.press("Tab")
    after = shown(page)
    assert after != before
    labels = page.locator("#live-contributions .name").all_inner_texts()
    assert len(set(labels)) == len(labels)
    check(page, model, table[100:120])


def test_many_classes_have_a_complete_matrix(opened):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 26, 2000)
    names = np.array([f"department of {chr(97 + k)}, and of others whose name is long" for k in range(26)])
    X = np.column_stack([codes // 5, codes % 5]) + rng.normal(0, 0.4, (2000, 2))
    model = GaussianNB().fit(X[:1000], names[codes[:1000]])
    page = opened(model, X[1000:], names[codes[1000:]])
    headings = page.locator("#confusions thead th").all_inner_texts()
    assert len(set(headings)) == 26
    assert page.locator("#confusions tbody tr").count() == 26
    total = "[...document.querySelectorAll('#confusions td')].map((its) => Number(its.innerText) || 0)"
    assert sum(page.evaluate(total)) == 1000
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    page.locator("#threshold select").select_option(str(names[7]))
    figures = page.locator("#threshold-result .figure strong").all_inner_texts()
    p, is_class = model.predict_proba(X[1000:])[:, 7], codes[1000:] == 7
    assert figures[1] == f"{100 * (p >= 0.5)[is_class].mean():.1f} %"
    page.locator("#confusions .link").first.click()
    assert page.locator("#confusions .rows li").count() > 0


def test_page_compares_models_and_notices_training_rows(opened):
    table, y = mixed()
    models = {name: BayesClassifier(structure=name).fit(table, y) for name in ("naive", "averaged")}
    page = opened(models, table, y)
    assert page.locator("#comparison tbody tr").count() == 2
    assert f"{100 * models['averaged'].score(table, y):.1f} %" in page.locator("#comparison").inner_text()
    naive, averaged = page.locator("#comparison tbody tr").all_inner_texts()
    assert averaged.count("best") == 4
    assert ": worse" in naive
    assert "These rows look like the training rows" in page.locator("#quality").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_have_no_violations_of_accessibility(opened, scheme):
    from axe_playwright_python.sync_playwright import Axe

    X, y = load_digits(return_X_y=True)
    table, labels = mixed(200)
    rows = table.assign(note=[f"a note on {label} and more" for label in labels])
    pooled = BayesClassifier(structure=Pooled(("naive", "trees")), calibrate="temperature", families={"note": "text"})
    images = GaussianNB(var_smoothing=0.1, calibrate="isotonic")
    models = {"pool": pooled.fit(rows, labels), "naive": BayesClassifier(structure="naive").fit(rows, labels)}
    pages = (
        opened(models, rows, np.roll(labels, 1), color_scheme=scheme),
        opened(images.fit(X[:300], y[:300]), X[300:500], y[300:500], color_scheme=scheme),
    )
    for page in pages:
        page.locator("button.tint").nth(1).click()
        for summary in page.locator("details summary").all()[:3]:
            summary.click()
        found = Axe().run(page).response
        assert not [(its["id"], its["nodes"][0]["html"]) for its in found["violations"]]
        assert len(found["passes"]) > 20


def test_names_and_values_cannot_become_markup(opened):
    nasty = "<script>alert(1)</script>"
    table = pd.DataFrame(
        {
            nasty: ["</script>", "<img src=x onerror=alert(2)>", "</script>", "&amp;\u2028"] * 10,
            '"><b>': np.arange(40) % 7 * 1.5,
            "{{data}}": ["<!--", "-->", "<!--", "{{script}}"] * 10,
        }
    )
    y = ["</script><script>alert(3)</script>", "<i>b</i>"] * 20
    page = opened(BayesClassifier(structure="naive").fit(table, y), table, y[::-1], title="{{style}}<h1>&")
    assert page.title() == "{{style}}<h1>&"
    assert page.locator("h1").inner_text() == "{{style}}<h1>&"
    assert page.locator("script").count() == 2
    assert page.locator("img, i:not([class]), b:not([class])").count() == 0
    page.get_by_label(nasty, exact=True).select_option("</script>")
    assert "</script>" in page.locator("#live-contributions").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_a_phone(opened, scheme):
    table, y = mixed()
    page = opened(
        BayesClassifier().fit(table, y), table, y, viewport={"width": 390, "height": 800}, color_scheme=scheme
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    unlabelled = (
        "[...document.querySelectorAll('input, select, textarea')].filter(i => !i.labels.length && !i.ariaLabel)"
    )
    assert page.evaluate(f"{unlabelled}.length") == 0


def test_long_names_do_not_widen_the_page(opened):
    rng = np.random.default_rng(0)
    names = np.array(["x" * 150, "a class whose name is long, as those of departments are", "ham"])
    y = rng.integers(0, 3, 300)
    words = np.array(["win", "cash", "prize", "lunch", "noon", "meeting", "budget", "report", "urgent"])
    notes = [" ".join(rng.choice(np.roll(words, 3 * k)[:6], 6)) for k in y]
    table = pd.DataFrame({"note": notes, "pay": rng.normal(12000 + 3000 * y, 2500), "part": names[y]})
    model = BayesClassifier(structure="naive", numeric="gaussian").fit_table(table, "part")
    page = opened(model, table[["note", "pay"]], np.roll(names[y], 1))
    for width in (1200, 375):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        narrow = page.evaluate("Math.min(...[...document.querySelectorAll('tbody th')].map(e => e.offsetWidth))")
        assert narrow > 25
    text = page.inner_text("body")
    assert "The model predicts part." in text
    assert "Prediction of part:" in text
    assert "true part " in text
    assert "0.0000 %" not in text
    assert "more add 0.00" not in text
