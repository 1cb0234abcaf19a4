"""Kafka as a way in and a way out: a topic takes documents from Kafka, a subscription is delivered to it.

Which Kafka is the administrator's choice, and so is which of its topics a tenant may name (`cluster`).
`source` reads documents and publishes them as the calls over HTTP do; `sink` writes deliveries. Only these
two import the client library, which ``pip install 'pathcast[kafka]'`` brings.
"""
