"""svmlight text, read and written by compiled code on all processors, with exact numbers and the exact places of errors."""
