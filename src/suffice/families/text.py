"""Text: the words of a column of texts, counted as a multinomial."""

from dataclasses import dataclass

from suffice.families.multinomial import Multinomial


@dataclass(frozen=True)
class WordCounts(Multinomial):
    """p(text | class) ∝ Π p[word]^count over the words of the vocabulary; any other word adds 0 to the score."""

    name = "text"
    cells = "words"
    accepts_sparse = False
    sql_sums = None
