"""The report in a browser: its computations, its controls, and that it loads nothing from outside."""

import os
import shutil
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits

from negative_binomial import NegativeBinomial
from suffice import (
    BayesClassifier,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianDiscriminant,
    GaussianNB,
    MultinomialNB,
    PoissonNB,
    Tree,
    report,
)
from suffice.families import FAMILIES, register
from suffice.report.inputs import plain_value
from suffice.schema import Partition
from suffice.structures import Pooled, Trees

MISSING = "needs a browser: pip install playwright, and apt-get install chromium (or chrome on the path)"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ROWS = 200


@pytest.fixture(scope="module")
def browser():
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        found = None
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens the report on a model; errors and requests fail the test at its end."""
    pages, troubles = [], []

    def route(handler):
        if handler.request.url.startswith("file://"):
            handler.continue_()
        else:
            troubles.append(f"asked for {handler.request.url}")
            handler.abort()

    def opens(model, X=None, y=None, title=None, **settings):
        path = report.write(model, tmp_path / f"{len(pages)}.html", X, y, title)
        assert path.stat().st_size < 12_000_000
        page = browser.new_page(**settings)
        page.route("**/*", route)
        page.on("console", lambda message: troubles.append(message.text) if message.type != "log" else None)
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(path.as_uri())
        page.wait_for_function("document.documentElement.dataset.ready")
        pages.append(page)
        return page

    yield opens
    for page in pages:
        page.close()
    assert not troubles


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
    table["events"] = np.random.default_rng(2).negative_binomial(3, 0.3 + 0.1 * np.unique(y, return_inverse=True)[1])
    register(NegativeBinomial(dispersion=3.0))
    try:
        model = BayesClassifier(structure="naive", families={"events": "negative-binomial"}, estimate=rule)
        page = opened(model.fit(table, y), table, y)
        check(page, model, table[:ROWS])
        before = shown(page)
        page.get_by_label("events, as a number").fill("40")
        page.keyboard.press("Tab")
        assert shown(page) != before
        assert page.locator("article", has_text="events").locator(".line-of").count() == 3
    finally:
        del FAMILIES["negative-binomial"]


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
    page = opened(model, table, y)
    check(page, model, table)
    for text, label in (("see you at home", "ham"), ("free prize, free call", "spam")):
        page.get_by_label("message").fill(text)
        shown(page)
        assert f": {label}," in page.locator("#live-status").inner_text()


def shown(page):
    page.wait_for_timeout(60)
    return page.locator(".outcome").inner_text()


def test_sliders_and_menus_move_the_probabilities(opened):
    table, y = mixed()
    page = opened(BayesClassifier().fit(table, y), table, y)
    seen = [shown(page)]
    page.get_by_label("colour").select_option("(any other)")
    seen.append(shown(page))
    page.get_by_label("colour").select_option("(empty)")
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
    page = opened(BernoulliNB(binarize=7.5).fit(X, y), X, y)
    page.get_by_role("button", name="Clear").click()
    empty = shown(page)
    box = page.locator("#pad").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 10, steps=20)
    page.mouse.up()
    drawn = shown(page)
    assert drawn != empty
    assert "Most probable: 1" in page.locator("#live-status").inner_text()
    page.get_by_role("button", name="Clear").press("Enter")
    assert shown(page) == empty
    page.locator("#pad").focus()
    for key in ("ArrowUp", "Space", "ArrowLeft", "ArrowLeft", "Space", "ArrowDown", "Space"):
        page.keyboard.press(key)
    inked = shown(page)
    assert inked != empty
    page.get_by_role("button", name="Another example").click()
    assert shown(page) != inked


def test_rows_with_errors_can_be_tried(opened):
    table, y = mixed()
    page = opened(BayesClassifier().fit(table, y), table, y)
    page.get_by_role("button", name="Try row").first.press("Enter")
    page.wait_for_timeout(60)
    said = page.locator("#wrong li p").first.inner_text()
    assert page.locator("#live-status").inner_text().split(": ")[1].split(",")[0] in said


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
    assert page.get_by_label(nasty).count() == 1
    page.get_by_label(nasty).select_option("</script>")
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


def test_small_squares_have_a_drawing_pad_and_inputs(opened):
    X, y = load_digits(return_X_y=True)
    X = X.reshape(-1, 8, 8)[:, ::2, ::2].reshape(-1, 16)
    page = opened(GaussianNB(var_smoothing=0.1).fit(X, y), X, y)
    page.get_by_role("button", name="Clear").click()
    empty = shown(page)
    page.locator("#pad").focus()
    page.keyboard.press("Space")
    assert shown(page) != empty
    assert page.get_by_label("column 10", exact=True).input_value() == "16"


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
        narrow = page.evaluate(
            "Math.min(...[...document.querySelectorAll('.words dd, tbody th')].map(e => e.offsetWidth))"
        )
        assert narrow > 25
        assert page.evaluate("Math.min(...[...document.querySelectorAll('.words dd')].map(e => e.offsetWidth))") > 200
    text = page.inner_text("body")
    assert "It predicts part." in text
    assert "Most probable part:" in text
    assert "has part = " in text
    assert "100.0 %;" not in text
    assert "0.0000 %" not in text
    assert "more add 0.00" not in text
