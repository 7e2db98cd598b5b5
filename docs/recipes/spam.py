"""Spam filter: from a CSV file of messages to a filter that gives reasons."""

import csv
import random

import pandas as pd
from sklearn.model_selection import train_test_split

from suffice import BayesClassifier

# 1. A small CSV file of invented messages. Use a file of your own instead.
OPENINGS = {
    "spam": ["You have won", "Claim now", "Final notice", "Congratulations", "Limited offer"],
    "ham": ["See you", "Sorry, I am late", "Thanks", "Good morning", "Can you call me"],
}
BODIES = {
    "spam": [
        "a free prize",
        "your cash reward",
        "a loan without checks",
        "free entry to the draw",
        "50 % off all pills",
    ],
    "ham": [
        "at lunch",
        "for the minutes of the meeting",
        "about the prize for the team",
        "at the station",
        "for dinner",
    ],
}
ENDINGS = {"spam": ["call now", "reply YES", "click the link"], "ham": ["talk soon", "bye", "call me later"]}


def write_messages(path: str, rows: int = 300) -> None:
    """Write messages with their labels. One part in twelve comes from the other class, so that no phrase is certain."""
    chance = random.Random(0)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        for _ in range(rows):
            label = chance.choice(["spam", "ham", "ham"])
            other = {"spam": "ham", "ham": "spam"}[label]
            kinds = [label if chance.random() > 1 / 12 else other for _ in range(3)]
            parts = [chance.choice(part[kind]) for part, kind in zip((OPENINGS, BODIES, ENDINGS), kinds, strict=True)]
            writer.writerow(["{} {}, {}".format(*parts), label])


write_messages("messages.csv")

# 2. Fit. Words and pairs of adjacent words of the column are counted.
messages = pd.read_csv("messages.csv")
X_train, X_test, y_train, y_test = train_test_split(messages[["text"]], messages["label"], random_state=0)
filter_ = BayesClassifier(families={"text": "text"}).fit(X_train, y_train)
print(f"{len(X_test)} test messages, accuracy {filter_.score(X_test, y_test):.2f}")

# 3. Use it. A good message in the spam folder costs ten times as much as spam in the inbox.
new = {
    "text": ["Thanks for the prize, talk soon", "You have won free entry, reply YES", "Final notice about the meeting"]
}
for text, label, p in zip(
    new["text"], filter_.predict(new, costs={("ham", "spam"): 10}), filter_.predict_proba(new)[:, 1], strict=True
):
    print(f"{label:4}  P(spam) = {p:.3f}  {text}")

# 4. Why?
print(filter_.explain({"text": "You have won free entry, reply YES"}).sentence())

# 5. A user marks a message as spam: the model learns it at once.
filter_.partial_fit({"text": "Final notice about the meeting"}, "spam")
print(f"after learning it: P(spam) = {filter_.predict_proba({'text': 'Final notice about the meeting'})[0, 1]:.3f}")
