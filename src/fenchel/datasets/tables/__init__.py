"""Tables (CSV, Parquet, data frames) as matrices, by an encoding that can be stored and applied to further tables."""
