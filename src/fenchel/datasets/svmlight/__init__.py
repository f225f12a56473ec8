"""svmlight text, read and written in compiled code: exact numbers, exact places of mistakes, all processors."""
