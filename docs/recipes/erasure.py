"""Erasure: a person asks to be deleted; the model forgets the rows, and a receipt is filed."""

from pathlib import Path

import pandas as pd

import suffice
from suffice import BayesClassifier, Receipt

# 1. The model in use. "averaged" has no trees and no weights, so forgetting equals a fit without the rows.
loans = pd.read_csv(Path(__file__).parents[1] / "loans.csv")
X, y = loans.drop(columns="repaid"), loans["repaid"]
BayesClassifier(structure="averaged").fit(X, y).save("loans.suffice")

# 2. The rows of the person, found by the key of your database. The model itself does not know whose rows they are.
mine = loans.index.isin([17, 240])

# 3. Forget. The receipt is written first, so that a job that is killed can be repeated.
with suffice.open("loans.suffice") as model:
    receipt = model.receipt(X[mine], y[mine])
    Path("receipt.json").write_text(receipt.to_json())
    model.forget(X[mine], y[mine])
print(f"{receipt.rows} rows forgotten, {suffice.load('loans.suffice').class_count_.sum():.0f} rows left")

# 4. Check, later and elsewhere: the model is the one of the receipt, and the receipt is about these rows.
filed, model = Receipt.from_json(Path("receipt.json").read_text()), suffice.load("loans.suffice")
print("the model is as the receipt says:", filed.verify(model))
print("the receipt is about these rows:", filed.covers(model, X[mine], y[mine]))

# 5. Proof: a model that never saw the rows has the same sums, and the same predictions.
never = BayesClassifier(structure="averaged", plan=model.plan_).fit(X[~mine], y[~mine])
print("sums equal those of a fit without the rows:", model.tally_.isclose(never.tally_))
difference = abs(model.predict_proba(X) - never.predict_proba(X)).max()
print("all probabilities are equal to 1e-9:", bool(difference < 1e-9))

# 6. The job is started again: the receipt says that these rows are gone. The sums alone often cannot tell.
if filed.verify(model) and filed.covers(model, X[mine], y[mine]):
    print("already forgotten: nothing to do")
