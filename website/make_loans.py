"""Draw the table of loans that the documentation uses: invented people, 1,000 rows.

    python website/make_loans.py docs/loans.csv

The chance of repayment falls with debts, rises with income and years in the job, depends on the purpose together with
the home, and is lower where the income is not stated.
"""

import sys

import numpy as np
import pandas as pd

ROWS = 1000


def draw_loans(seed: int = 7) -> pd.DataFrame:
    """Return a table of loans with missing cells."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, ROWS)
    income = np.exp(rng.normal(7.7 + 0.006 * age, 0.45, ROWS)).round(-1)
    years = rng.exponential(5, ROWS).round(1)
    debts = rng.choice([0, 0, 0, 1, 1, 2, 3, 4], ROWS)
    home = rng.choice(["rent", "own", "family"], ROWS, p=[0.5, 0.35, 0.15])
    purpose = rng.choice(["car", "furniture", "education", "business"], ROWS, p=[0.4, 0.25, 0.2, 0.15])
    log_odds = 1.8 + 3.0 * (np.log(income) - 7.9) - 1.3 * debts + 0.12 * years
    log_odds += np.where((purpose == "business") & (home == "rent"), -3.0, 0.0) + np.where(home == "own", 0.9, 0.0)
    hidden = rng.random(ROWS) < 0.12
    repaid = rng.random(ROWS) < 1 / (1 + np.exp(-log_odds + 1.8 * hidden))
    table = pd.DataFrame(
        {
            "age": age,
            "income": np.where(hidden, np.nan, income),
            "years_in_job": np.where(rng.random(ROWS) < 0.05, np.nan, years),
            "debts": debts,
            "home": np.where(rng.random(ROWS) < 0.04, None, home),
            "purpose": purpose,
            "repaid": np.where(repaid, "yes", "no"),
        }
    )
    return table.astype({"income": "Int64"})


if __name__ == "__main__":
    draw_loans().to_csv(sys.argv[1], index=False)
