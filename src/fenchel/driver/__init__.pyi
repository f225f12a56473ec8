from .advice import warn_not_certified as warn_not_certified
from .checkpoint import checkpoints as checkpoints
from .choice import choose as choose
from .merged_columns import with_merged_columns as with_merged_columns
from .minimization import minimize as minimize, solve as solve, uninterrupted as uninterrupted
from .run import Evaluation as Evaluation
