"""Values of options that hold a number, a word, or pairs NAME=VALUE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from suffice.cli.output import CommandError

RULES = ("mle", "map", "mean", "predictive")  # the rules of suffice.recipe.Rule, which takes longer to import


def parse_prior(text: str) -> float | str:
    """Return a prior: a number, or a word."""
    try:
        return float(text)
    except ValueError:
        return text


def parse_rule(text: str) -> str:
    """Return the name of a rule of estimation."""
    if text not in RULES:
        raise CommandError(f"--estimate is {', '.join(RULES[:-1])} or {RULES[-1]}, not {text!r}")
    return text


def parse_by_name(text: str, parse: Callable[[str], Any]) -> Any:
    """Return a setting, or {column or family: setting} from NAME=SETTING,NAME=SETTING."""
    if "=" not in text:
        return parse(text)
    pairs = [each.rpartition("=") for each in text.split(",")]
    return {name.strip(): parse(value.strip()) for name, _, value in pairs}


def parse_by_class(option: str, text: str, kind: str) -> Any:
    """Return a word, a number, or {label: number} from LABEL=NUMBER,LABEL=NUMBER with labels of a type."""
    if "=" not in text:
        return parse_prior(text)
    pairs = [each.rpartition("=") for each in text.split(",")]
    as_label: Callable[[str], Any] = str
    if kind.startswith("bool"):
        as_label = {"true": True, "false": False}.get
    elif kind.startswith(("int", "uint", "float", "double")):
        as_label = lambda label: int(label) if kind.strip("u").startswith("int") else float(label)  # noqa: E731
    try:
        return {as_label(label.strip()): float(share) for label, _, share in pairs}
    except ValueError:
        raise CommandError(
            f"{option} is a word or LABEL=NUMBER,LABEL=NUMBER, such as yes=0.3,no=0.7, not {text!r}"
        ) from None


def parse_families(texts: list[str]) -> dict[str, str]:
    """Return {column: family} from COLUMN=FAMILY."""
    pairs = [each.rpartition("=") for each in texts]
    for column, _, family in pairs:
        if not column or not family:
            raise CommandError(f"--family is COLUMN=FAMILY, such as age=gaussian, not {(column or family)!r}")
    return {column: family for column, _, family in pairs}
