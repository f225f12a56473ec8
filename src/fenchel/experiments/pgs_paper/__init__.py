"""Inverse time dependency in convex regularized learning: the experiments of Zhu et al., ICDM 2009"""

from fenchel.experiments.pgs_paper.accuracies_table import TABLE_2
from fenchel.experiments.pgs_paper.guarantees import THEOREMS
from fenchel.experiments.pgs_paper.times import FIGURES
from fenchel.experiments.pgs_paper.toys import FIGURE_9

EXPERIMENTS = (*FIGURES, FIGURE_9, TABLE_2, THEOREMS)
