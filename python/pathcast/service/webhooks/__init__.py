"""Webhooks: deliveries that the server makes by calling a receiver.

`signature` signs as Standard Webhooks say, `addresses` decides where a call may go, `connections` keeps what
was opened for the next call, `sender` makes one call with every bound it needs, and `dispatcher` decides
which call is next and what its outcome means.
"""
