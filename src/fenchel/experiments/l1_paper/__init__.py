"""Stochastic methods for l1-regularized loss minimization: the experiments of Shalev-Shwartz & Tewari, JMLR 2011"""

from fenchel.experiments.l1_paper.courses import FIGURES
from fenchel.experiments.l1_paper.expected_bounds import THEOREMS

EXPERIMENTS = (*FIGURES, THEOREMS)
