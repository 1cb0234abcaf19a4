"""Matching inside a database: subscriptions are rows, and plain SQL matches a batch of documents.

Memory does not limit the number of subscriptions, and removing one deletes rows. The method is that of the
paper on matching XPath subscriptions level by level with non-recursive SQL. `sql` holds the statements,
`backends` the databases that run them. The answers are those of `pathcast.Index`.

>>> db = Relational("duckdb")
>>> db.subscribe([("s1", "/a[b = 2]/c"), ("s2", "//b[not(@x)]")])
>>> db.match([("d1", b"<a><b>2</b><c/></a>"), ("d2", b"<a><b x='1'>2</b></a>"), ("d3", b"<a>")])
[('d1', 's1'), ('d1', 's2')]
>>> db.dead_letters[0].document, db.dead_letters[0].error.line
('d3', 1)
"""

from pathcast.relational.database import DeadLetter, Relational

__all__ = ["DeadLetter", "Relational"]
