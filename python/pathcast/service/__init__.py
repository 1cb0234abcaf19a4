"""A publish/subscribe server for XML: topics, subscriptions, published documents, deliveries.

`pathcast serve` is one process with nothing beside it. Requests come in over HTTP (`api`), a document is
matched against the index of its topic (`catalog`), and the document, its deliveries and the answer to its
idempotency key are one transaction of the store (`publishing`, `store`). Only after the commit is the request
answered. Receivers pull, follow Server-Sent Events (`events`) or are called (`webhooks`).

The parts know each other in one direction: `api` → `core` → `publishing`, `webhooks` → `catalog` → `store`.
"""
