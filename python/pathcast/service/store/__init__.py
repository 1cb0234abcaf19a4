"""The store: tables, migrations, connections, and one file of queries for each kind of row.

SQLite and PostgreSQL hold the same tables and run the same queries. Functions here take a connection inside a
transaction; who begins and commits it is `writer`'s business.
"""

from pathcast.service.store.database import Database, StoreError

__all__ = ["Database", "StoreError"]
