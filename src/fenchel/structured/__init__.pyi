from .chain import (
    Chain as Chain,
    chunk_scores as chunk_scores,
    sentences as sentences,
    token_accuracy as token_accuracy,
    token_features as token_features,
)
from .multiclass import Multiclass as Multiclass
from .problem import Problem as Problem
from .ranking import (
    Ranking as Ranking,
    grouped as grouped,
    letor_scores as letor_scores,
    ndcg as ndcg,
    normalized as normalized,
    pairwise as pairwise,
)
from .rna import RnaFold as RnaFold
from .structured_model import StructuredModel as StructuredModel
