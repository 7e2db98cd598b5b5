"""Nightly update from PostgreSQL: learn the new rows, check for drift, and replace the view that scores rows.

python nightly_postgres.py postgresql://user@host/base
"""

import sys
from pathlib import Path

import ibis

import suffice
from suffice import BayesClassifier

MODEL, COLUMNS = Path("loans.suffice"), ["age", "income", "years_in_job", "debts", "home", "purpose", "repaid"]


def update(url: str) -> str:
    """Learn the rows of ``loans`` that are not learned yet; return what was done."""
    base = ibis.connect(url)
    loans = base.table("loans")
    newest = int(loans["id"].max().execute())  # rows that are inserted while the job runs are learned the next night
    if not MODEL.exists():
        base.raw_sql("CREATE TABLE IF NOT EXISTS learned (last INTEGER)").close()
        rows = loans.filter(loans.id <= newest).select(COLUMNS)
        model = BayesClassifier(structure="averaged").fit_table(rows, target="repaid")
        model.save(MODEL)
        done = f"first fit: {model.class_count_.sum():.0f} rows"
    else:
        last = base.table("learned")["last"].max().execute()
        new = loans.filter((loans.id > last) & (loans.id <= newest)).select(COLUMNS).execute()
        if new.empty:
            return "nothing new"
        X, y = new.drop(columns="repaid"), new["repaid"]
        with suffice.open(MODEL) as model:  # other processes wait; an error leaves the file as it was
            drift = suffice.drift(model, X)
            model.partial_fit(X, y)
        done = f"learned {len(new)} rows, {model.class_count_.sum():.0f} in all; drifted columns: {drift.drifted}"
    # the database scores rows itself: a table of parameters and the view `loans_scored`
    base.raw_sql(model.to_sql("postgres", table="loans", style="tables", prefix="loans_scored")).close()
    base.raw_sql("DELETE FROM learned").close()
    base.raw_sql(f"INSERT INTO learned VALUES ({newest})").close()
    base.disconnect()
    return done


if __name__ == "__main__":
    print(update(sys.argv[1]))
