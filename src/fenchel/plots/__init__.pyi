from .canvas import check_file as check_file, panels as panels, save as save
from .inverse_time_figure import inverse_time as inverse_time
from .path_figure import path as path
from .rna_figure import arcs as arcs
from .run_figures import compare as compare, history as history
