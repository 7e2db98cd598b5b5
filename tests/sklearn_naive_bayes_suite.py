"""Runs scikit-learn's naive Bayes tests with the classes of suffice, and counts the differences."""

from __future__ import annotations

import sys

import pytest
import sklearn.naive_bayes as theirs

import suffice as ours

# Each calls a private method of scikit-learn, or asserts a limit that is lifted here on purpose.
EXPECTED = {
    "test_gnb_check_update_with_no_data",
    "test_check_alpha",
    "test_alpha_vector",
    "test_NB_partial_fit_no_first_classes",
}


class Report:
    """Collects which tests passed and which did not."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        name = report.nodeid.split("::")[-1].split("[")[0]
        if report.failed:
            self.failed.append(name)
        elif report.when == "call" and report.passed:
            self.passed.append(name)


def main() -> int:
    for name in ("GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"):
        setattr(theirs, name, getattr(ours, name))
    report = Report()
    # scikit-learn's tests have a policy of their own about warnings
    options = ["-q", "-p", "no:cacheprovider", "-o", "filterwarnings=default"]
    pytest.main([*options, "--pyargs", "sklearn.tests.test_naive_bayes"], plugins=[report])
    differs = set(report.failed) - EXPECTED
    print(f"{len(report.passed)} pass; these differ and should not: {sorted(differs)}")
    return int(bool(differs) or len(report.passed) < 70)


if __name__ == "__main__":
    sys.exit(main())
