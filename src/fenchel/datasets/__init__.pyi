from .chunked_files import chunks as chunks
from .conll import read_conll as read_conll, write_conll as write_conll
from .data import Data as Data
from .formats import read as read, write as write
from .generators import (
    make_gaussians as make_gaussians,
    make_text as make_text,
    make_wide as make_wide,
    with_noise_features as with_noise_features,
)
from .rna_files import RnaRecord as RnaRecord, read_bpseq as read_bpseq, read_dbn as read_dbn, read_rna as read_rna, write_dbn as write_dbn
from .row_store.conversion import convert as convert
from .row_store.stored_data import open as open
from .store.fetch import ChecksumError as ChecksumError
from .store.lookup import Listing as Listing, available as available, load as load, path as path
from .structured_generators import make_ranking as make_ranking, make_rna as make_rna, make_sequences as make_sequences
from .svmlight.reader import read_svmlight as read_svmlight
from .svmlight.writer import write_svmlight as write_svmlight
from .tables.column import Column as Column
from .tables.encoding import Encoding as Encoding
