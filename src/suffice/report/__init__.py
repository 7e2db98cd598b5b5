"""Reports: a model, its parameters and its quality as one interactive HTML file.

>>> from suffice import BernoulliNB, report
>>> model = BernoulliNB().fit([[1, 0], [1, 1], [0, 1]], ["ham", "ham", "spam"])
>>> page = report.render(model, title="Mail")
>>> page[:15], "<title>Mail</title>" in page
('<!doctype html>', True)
"""

from suffice.report.page import render, write

__all__ = ["render", "write"]
