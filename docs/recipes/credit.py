"""Credit: a model of loans, a threshold by costs, and the reasons for each rejection."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from suffice import BayesClassifier

# 1. 1,000 invented loans from docs/loans.csv; some cells are missing.
loans = pd.read_csv(Path(__file__).parents[1] / "loans.csv")
X, y = loans.drop(columns="repaid"), loans["repaid"]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)

# 2. Age must not play a role in this decision.
model = BayesClassifier(families={"age": "ignore"}).fit(X_train, y_train)
print(f"accuracy on {len(X_test)} other loans: {model.score(X_test, y_test):.3f}")

# 3. A loan that is not repaid costs five times as much as a good one that is refused.
costs = {("no", "yes"): 5, ("yes", "no"): 1}
decisions = model.predict(X_test, costs=costs)


def cost_of(decided: np.ndarray) -> int:
    """Return what these decisions cost on the test rows."""
    return sum(costs.get((true, said), 0) for true, said in zip(y_test, decided, strict=True))


print(f"cost by the more probable class: {cost_of(model.predict(X_test))}, by costs: {cost_of(decisions)}")


# 4. Reasons for a rejection: the terms against repayment, the largest first.
def reasons(applicant: dict, most: int = 3) -> list[str]:
    """Return the strongest reasons against an applicant, as text."""
    parts = model.explain(applicant).log_odds(0, "no", "yes")
    against = sorted((part for part in parts if part[0] != "(prior)" and part[2] > 0.1), key=lambda part: -part[2])
    return [
        f"{name} = {'not stated' if value is None else value} ({nats:+.2f})" for name, value, nats in against[:most]
    ]


applicant = {"income": None, "years_in_job": 0.5, "debts": 1, "home": "rent", "purpose": "business"}
print(
    f"\n{applicant}\nP(repaid) = {model.predict_proba(applicant)[0, 1]:.2f}: {model.predict(applicant, costs=costs)[0]}"
)
for reason in reasons(applicant):
    print(" ", reason)

# 5. What would change the decision? Predict the changed row.
print("\nP(repaid) after a change:")
for change in ({"income": 3500}, {"debts": 0}, {"purpose": "car"}, {"income": 3500, "debts": 0, "purpose": "car"}):
    print(f"  {model.predict_proba(applicant | change)[0, 1]:.2f}  {change}")
