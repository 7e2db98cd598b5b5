"""Verification of model files: whether a file is whole, holds a model, and has counts that add up."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice.classifiers.receipt import Receipt
from suffice.classifiers.saved_models import load
from suffice.families import FAMILIES
from suffice.statistics.consistency import SumCheck, check_sums
from suffice.storage import FileFacts, StoreError, read


@dataclass(frozen=True)
class Verification:
    """The checks of a model file.

    Attributes
    ----------
    path : str
        The file.
    facts : FileFacts or None
        Its format, version and length; None if it cannot be read.
    checks : list of SumCheck
        What was checked, and what is wrong.
    """

    path: str
    facts: FileFacts | None
    checks: list[SumCheck]

    @property
    def is_ok(self) -> bool:
        """Whether all is right."""
        return all(check.problem is None for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """Return the checks as values, for JSON."""
        checks = [{"check": check.what, "ok": check.problem is None, "problem": check.problem} for check in self.checks]
        facts = {} if self.facts is None else vars(self.facts)
        return {"file": self.path, "ok": self.is_ok, **facts, "checks": checks}


def verify_file(path: str | os.PathLike[str], receipt: str | os.PathLike[str] | None = None) -> Verification:
    """Return the checks of a model file: its digest, its content, that it predicts, and that its counts add up.

    Parameters
    ----------
    path : str or path
        The file.
    receipt : str or path, default=None
        The file of a receipt: the model must hold exactly what was left without the rows.

    Returns
    -------
    verification : Verification
    """
    checks: list[SumCheck] = []
    facts, model = None, None
    try:
        _, _, facts = read(path)
        checks.append(SumCheck(f"format {facts.format} of suffice {facts.version}, {facts.size:,} bytes, digest", None))
        model = load(path)
        checks.append(SumCheck(f"{type(model).__name__} with a plan and settings that predict", None))
    except StoreError as error:
        checks.append(SumCheck("file" if facts is None else "model", str(error)))
    tally = getattr(model, "tally_", None)
    if tally is not None:
        bits = [FAMILIES[block.family].cells == "bits" and block.sizes is None for block in tally.schema.blocks]
        checks += check_sums(tally, bits)
    if receipt is not None and tally is not None:
        checks.append(_check_receipt(model, receipt))
    return Verification(str(path), facts, checks)


def _check_receipt(model: Any, path: str | os.PathLike[str]) -> SumCheck:
    """Return whether a model holds what a receipt says that is left."""
    receipt = Receipt.from_json(Path(path).read_text(encoding="utf-8"))
    what = f"receipt of {receipt.rows:,} forgotten row{'' if receipt.rows == 1 else 's'}, {receipt.time}"
    if receipt.verify(model):
        return SumCheck(what, None)
    if model.tally_.digest() == receipt.digest_before:
        return SumCheck(what, "the model still contains the rows")
    return SumCheck(what, "the model is another one, or has learned or forgotten other rows since")
