"""Digits: a model of handwritten digits, and a page with a pad to draw on."""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from suffice import BernoulliNB, GaussianDiscriminant, MixtureClassifier, report
from suffice.images import deskew

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)

# 1. From naive to full dependence between pixels.
models = {
    "naive, binary pixels": BernoulliNB(binarize=7.5),
    "full covariance": GaussianDiscriminant(shrinkage=0.2),
    "mixtures of three": MixtureClassifier(components=3, shrinkage=0.2, random_state=0),
}
for name, model in models.items():
    print(f"{name:21} {model.fit(X_train, y_train).score(X_test, y_test):.3f}")

# 2. Remove the slant of the images, as the pad does with drawings.
model = GaussianDiscriminant(shrinkage=0.2, calibrate="temperature").fit(deskew(X_train), y_train)
print(f"{'deskewed':21} {model.score(deskew(X_test), y_test):.3f}")

# 3. The page: open it in a browser and draw.
path = report.write(model, "digits.html", deskew(X_test), y_test, title="Handwritten digits")
print("written:", path.name)
