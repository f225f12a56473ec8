"""Tables (CSV, Parquet, data frames) as matrices, by a rule that is kept and makes the same columns of the next table."""
