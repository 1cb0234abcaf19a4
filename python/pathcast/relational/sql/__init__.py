"""The SQL that every backend runs: the tables, the steps of a match, the order in which they run."""
