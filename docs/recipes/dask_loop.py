"""Dask: each partition is counted on its worker, and only the sums are transferred."""

from pathlib import Path

import dask
import dask.dataframe as dd
import pandas as pd

from suffice import BayesClassifier

loans = pd.read_csv(Path(__file__).parents[1] / "loans.csv")
frame = dd.from_pandas(loans, npartitions=4)  # or dd.read_parquet("s3://…")

# 1. One call: a sample makes the plan, each partition is counted on its worker, and the tallies are added in a tree.
model = BayesClassifier(structure="averaged").fit_table(frame, target="repaid")
print(f"{model.class_count_.sum():.0f} rows from {frame.npartitions} partitions")


# 2. The same as a loop of your own, for Dask, Ray, joblib or a queue: fit each part under one plan, and add.
@dask.delayed
def fit_part(part: pd.DataFrame) -> BayesClassifier:
    """Return the model of one partition."""
    return BayesClassifier(structure="averaged", plan=model.plan_).fit(part.drop(columns="repaid"), part["repaid"])


first, *rest = dask.compute(*(fit_part(part) for part in frame.to_delayed()))
total = sum(rest, first)
print("the sums are equal:", total.tally_.isclose(model.tally_))

# 3. Predict where the rows are: a lazy frame with the columns `prediction` and `p(label)`.
scored = model.predict_table(frame)
print(scored["prediction"].value_counts().compute().sort_index().to_dict())
