"""Proximal regularization for online and batch learning: the experiments of Do, Le & Foo, ICML 2009"""

from fenchel.experiments.prox_paper.bundles import FIGURE_3
from fenchel.experiments.prox_paper.curves import CURVES
from fenchel.experiments.prox_paper.methods_table import TABLE_1

EXPERIMENTS = (TABLE_1, *CURVES, FIGURE_3)
