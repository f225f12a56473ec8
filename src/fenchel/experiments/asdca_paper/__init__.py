"""Accelerated proximal stochastic dual coordinate ascent: the experiments of Shalev-Shwartz & Zhang, ICML 2014"""

from fenchel.experiments.asdca_paper.convergence import FIGURE_1
from fenchel.experiments.asdca_paper.rates import TABLE_1

EXPERIMENTS = (FIGURE_1, TABLE_1)
