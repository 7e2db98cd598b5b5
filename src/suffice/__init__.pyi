"""Types of the public names, which `__init__.py` imports when they are first used."""

from suffice import images as images
from suffice import plots as plots
from suffice import report as report
from suffice.classifiers.bayes import BayesClassifier as BayesClassifier
from suffice.classifiers.bernoulli import BernoulliNB as BernoulliNB
from suffice.classifiers.categorical import CategoricalNB as CategoricalNB
from suffice.classifiers.discriminant import GaussianDiscriminant as GaussianDiscriminant
from suffice.classifiers.gaussian import GaussianNB as GaussianNB
from suffice.classifiers.logistic import LogisticRegression as LogisticRegression
from suffice.classifiers.mixture import MixtureClassifier as MixtureClassifier
from suffice.classifiers.multinomial import ComplementNB as ComplementNB
from suffice.classifiers.multinomial import MultinomialNB as MultinomialNB
from suffice.classifiers.poisson import PoissonNB as PoissonNB
from suffice.classifiers.receipt import Receipt as Receipt
from suffice.classifiers.saved_models import load as load
from suffice.classifiers.saved_models import open as open
from suffice.distributions.bernoulli import Bernoulli as Bernoulli
from suffice.distributions.categorical import Categorical as Categorical
from suffice.distributions.gaussian import Gaussian as Gaussian
from suffice.distributions.multinomial import Multinomial as Multinomial
from suffice.distributions.poisson import Poisson as Poisson
from suffice.evaluation.comparison import compare as compare
from suffice.evaluation.cross_validation import cross_validate as cross_validate
from suffice.evaluation.streams import Window as Window
from suffice.evaluation.streams import batches as batches
from suffice.evaluation.streams import prequential as prequential
from suffice.parallel import get_threads as get_threads
from suffice.parallel import set_threads as set_threads
from suffice.parallel import threads as threads
from suffice.priors import Beta as Beta
from suffice.priors import Dirichlet as Dirichlet
from suffice.priors import Flat as Flat
from suffice.priors import Gamma as Gamma
from suffice.priors import MEstimate as MEstimate
from suffice.priors import NormalInverseGamma as NormalInverseGamma
from suffice.priors import NormalInverseWishart as NormalInverseWishart
from suffice.priors import Prior as Prior
from suffice.schema import Plan as Plan
from suffice.schema import Text as Text
from suffice.statistics import CoMoments as CoMoments
from suffice.statistics import Counts as Counts
from suffice.statistics import Moments as Moments
from suffice.statistics import PairCounts as PairCounts
from suffice.statistics import Tally as Tally
from suffice.storage import StoreError as StoreError
from suffice.structures import Averaged as Averaged
from suffice.structures import Chain as Chain
from suffice.structures import Full as Full
from suffice.structures import Joint as Joint
from suffice.structures import Pooled as Pooled
from suffice.structures import Tree as Tree
from suffice.structures import Trees as Trees
from suffice.structures import Twin as Twin

__version__: str
__all__: list[str]
