"""Publish/subscribe for XML: which of these XPath subscriptions does this document satisfy?

>>> import pathcast
>>> index = pathcast.Index()
>>> index.add("english", "/news//item[@lang='en']")
>>> index.add("sport", "//item[topic = 'sport']")
>>> index.match("<news><item lang='en'><topic>sport</topic></item></news>")
['english', 'sport']
"""

from pathcast._core import __version__
from pathcast.errors import (
    Cancelled,
    DatabaseError,
    DocumentError,
    DocumentLimitError,
    EvaluationError,
    IndexFormatError,
    LimitError,
    PathcastError,
    SchemaError,
    SchemaWarning,
    SubscriptionErrors,
    XPathError,
    XPathLimitError,
)
from pathcast.explanation import (
    ExplainedPath,
    ExplainedPredicate,
    ExplainedStep,
    Explanation,
    explain,
)
from pathcast.index import Cancellation, Index, MatchBatch, Matches, Node, engines, matches
from pathcast.limits import Limits
from pathcast.types import Groups, XPath

__all__ = [
    "Cancellation",
    "Cancelled",
    "DatabaseError",
    "DocumentError",
    "DocumentLimitError",
    "EvaluationError",
    "ExplainedPath",
    "ExplainedPredicate",
    "ExplainedStep",
    "Explanation",
    "Groups",
    "Index",
    "IndexFormatError",
    "LimitError",
    "Limits",
    "MatchBatch",
    "Matches",
    "Node",
    "PathcastError",
    "SchemaError",
    "SchemaWarning",
    "SubscriptionErrors",
    "XPath",
    "XPathError",
    "XPathLimitError",
    "__version__",
    "engines",
    "explain",
    "matches",
]
