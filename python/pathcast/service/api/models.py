"""What clients send, checked; with examples that the OpenAPI document shows."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from pathcast.service.problems import Problem
from pathcast.service.store.subscriptions import Subscription
from pathcast.service.webhooks import signature

NAME = r"[A-Za-z0-9._-]{1,128}"
_LABELS = 64


def check_name(what: str, name: str) -> str:
    """The name of a topic, subscription or tenant; a `Problem` when it is none."""
    if re.fullmatch(NAME, name) is None:
        detail = f"{name!r}: letters, digits, '.', '_' and '-', at most 128"
        raise Problem(422, "name", f"This is not a valid name for a {what}", detail)
    return name


def _labels(labels: dict[str, str] | None) -> dict[str, str] | None:
    if labels and (len(labels) > _LABELS or any(len(k) > 128 or len(v) > 1024 for k, v in labels.items())):
        raise ValueError(f"at most {_LABELS} labels, with names of 128 and values of 1,024 characters")
    if labels and any("\0" in k or "\0" in v for k, v in labels.items()):
        raise ValueError("labels hold no U+0000, which PostgreSQL cannot keep")
    return labels


def _namespaces(namespaces: dict[str, str] | None) -> dict[str, str] | None:
    for prefix, uri in (namespaces or {}).items():
        if prefix and re.fullmatch(r"[^\W\d][\w.\-\u00b7]*", prefix) is None:
            raise ValueError(f"{prefix!r} is not a prefix")
        if "\0" in uri:
            raise ValueError("a namespace holds no U+0000")
    return namespaces


Labels = Annotated[dict[str, str] | None, AfterValidator(_labels)]
Namespaces = Annotated[dict[str, str] | None, AfterValidator(_namespaces)]

_XPATH: Any = Field(description="The expression.")
_VARIABLES: Any = Field(
    default=None, description='Values of `$name` in the expression; an expression is `{"xpath": "..."}`.'
)
_LABELLED: Any = Field(default=None, description="Names and values of your own.")


def _shown(*examples: dict[str, Any]) -> ConfigDict:
    """No fields but those that are named, and these as examples."""
    return ConfigDict(extra="forbid", json_schema_extra={"examples": list(examples)})


def _encode(given: Any) -> None:
    """Try all text and all numbers in it."""
    if isinstance(given, str):
        given.encode()
    elif isinstance(given, float) and not math.isfinite(given):
        raise ValueError(f"{given} is not a number that JSON can hold")
    elif isinstance(given, dict):
        for name, value in given.items():
            _encode(name)
            _encode(value)
    elif isinstance(given, list):
        for each in given:
            _encode(each)


class Body(BaseModel):
    """A body with no fields but those that are named, Unicode in all texts, and finite numbers."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _unicode(cls, given: Any) -> Any:
        """JSON can write half of a surrogate pair, and 1e999, which no store and no answer can hold."""
        try:
            _encode(given)
        except UnicodeEncodeError as error:
            raise ValueError(f"U+{ord(error.object[error.start]):04X} is half a character") from None
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        return given


class SchemaBody(Body):
    """A DTD as text."""

    dtd: str = Field(description="Declarations of elements and attributes.")
    root: str | None = Field(default=None, description="The name of the root element.")


class KafkaBody(Body):
    """A topic of the server's Kafka."""

    topic: str = Field(pattern=r"^[A-Za-z0-9._-]{1,249}$", description="The name of the topic in Kafka.")


class KafkaSourceBody(KafkaBody):
    """Where documents come from."""

    group: str | None = Field(
        default=None,
        pattern=f"^{NAME}$",
        description="The consumer group; otherwise `pathcast-TENANT-TOPIC`.",
    )


class TopicBody(Body):
    """The settings of a topic."""

    model_config = _shown({"namespaces": {"cap": "urn:oasis:names:tc:emergency:cap:1.2"}})

    namespaces: Namespaces = Field(
        default=None,
        description="Prefixes that every expression may use; the empty one is for names without a prefix.",
    )
    ignore_namespaces: bool = Field(default=False, description="Compare local names only.")
    schema_: SchemaBody | str | None = Field(
        default=None, alias="schema", description="A DTD; expressions are held against it, documents are not."
    )
    limits: dict[str, int] | None = Field(default=None, description="Bounds on documents and expressions.")
    retention: float | None = Field(default=None, gt=0, description="Seconds that documents are kept.")
    kafka: KafkaSourceBody | None = Field(
        default=None, description="A topic of the server's Kafka that documents are taken from."
    )

    def settings(self) -> dict[str, Any]:
        """As the store keeps them: only what was set."""
        return self.model_dump(by_alias=True, exclude_defaults=True)


class WebhookBody(Body):
    """A receiver."""

    url: str = Field(max_length=2048, description="It is called with POST.")
    secret: str | None = Field(
        default=None, description="`whsec_` and 24 to 64 bytes in base64; made when missing."
    )

    @field_validator("secret")
    @classmethod
    def _sound(cls, secret: str | None) -> str | None:
        if secret is not None:
            signature.secret_bytes(secret)
        return secret


class DeliveryBody(Body):
    """How documents reach the subscriber; nothing means that they are pulled."""

    webhook: WebhookBody | None = Field(default=None, description="A receiver that is called.")
    kafka: KafkaBody | None = Field(default=None, description="A topic of Kafka.")
    pull: dict[str, Any] | None = Field(default=None, description="Nothing is set here; `{}`.")
    events: dict[str, Any] | None = Field(default=None, description="Nothing is set here; `{}`.")

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        """`"pull"` and `"events"` for what has nothing to set."""
        return {given: {}} if given in ("pull", "events") else given

    @model_validator(mode="after")
    def _one_channel(self) -> DeliveryBody:
        if self.webhook is not None and self.kafka is not None:
            raise ValueError("a subscription is delivered by webhook or to Kafka, not both")
        return self

    def stored(self) -> dict[str, Any] | None:
        """As the store keeps it."""
        return self.model_dump(include={"webhook", "kafka"}, exclude_none=True) or None


class SubscriptionBody(Body):
    """One subscription."""

    model_config = _shown(
        {"xpath": "//item[@lang = 'en']", "labels": {"team": "desk"}},
        {
            "xpath": "//alert[severity = 'Extreme']",
            "delivery": {"webhook": {"url": "https://example.org/hook"}},
        },
    )

    xpath: str = _XPATH
    namespaces: Namespaces = Field(default=None, description="Prefixes, beside those of the topic.")
    variables: dict[str, Any] | None = _VARIABLES
    ordered: bool | None = Field(default=None, description="Whether branches must come in their order.")
    delivery: DeliveryBody | None = Field(default=None, description="How documents reach the subscriber.")
    enabled: bool = Field(default=True, description="Documents pass by one that is not.")
    labels: Labels = _LABELLED

    def subscription(self, id: str) -> Subscription:
        """As the store keeps it."""
        delivery = self.delivery.stored() if self.delivery is not None else None
        return Subscription(
            id=id,
            xpath=self.xpath,
            namespaces=self.namespaces,
            variables=self.variables,
            ordered=self.ordered,
            delivery=delivery,
            enabled=self.enabled,
            labels=self.labels,
        )


class BulkLine(SubscriptionBody):
    """One line of a bulk load."""

    id: str = Field(pattern=f"^{NAME}$", description="The id of the subscription.")


class EnabledBody(Body):
    """Pause or go on."""

    model_config = _shown({"enabled": False})

    enabled: bool = Field(description="Whether documents are delivered to it.")


class CheckBody(Body):
    """An expression to try, perhaps on a document."""

    model_config = _shown({"xpath": "/a/b[@c > 1]", "document": "<a><b c='2'/></a>"})

    xpath: str = _XPATH
    namespaces: Namespaces = Field(default=None, description="Prefixes that the expression may use.")
    variables: dict[str, Any] | None = _VARIABLES
    ordered: bool = Field(default=False, description="Whether branches must come in their order.")
    ignore_namespaces: bool = Field(default=False, description="Compare local names only.")
    document: str | None = Field(default=None, description="A document to try it on.")


class AckBody(Body):
    """Everything up to this cursor has arrived."""

    model_config = _shown({"cursor": "17"})

    cursor: str | int = Field(description="Of a delivery or a page.")


class QuotaBody(Body):
    """What a key may use."""

    subscriptions: int | None = Field(default=None, ge=0, description="Subscriptions of the tenant.")
    documents_per_second: float | None = Field(
        default=None,
        ge=0,
        validation_alias=AliasChoices("documents_per_second", "documents"),
        description="Documents that the key publishes in a second.",
    )
    bytes_per_second: float | None = Field(
        default=None,
        ge=0,
        validation_alias=AliasChoices("bytes_per_second", "bytes"),
        description="Bytes of documents that the key publishes in a second.",
    )
    pending_deliveries: int | None = Field(
        default=None,
        ge=0,
        validation_alias=AliasChoices("pending_deliveries", "pending"),
        description="Deliveries of the tenant that nobody has taken.",
    )


class KeyBody(Body):
    """A key to make."""

    model_config = _shown(
        {
            "tenant": "newsroom",
            "scopes": ["publish", "subscribe", "read"],
            "topics": ["wire", "alerts-*"],
            "quota": {"documents_per_second": 50, "subscriptions": 1000},
        }
    )

    tenant: str = Field(default="default", pattern=f"^{NAME}$", description="Whose key it is.")
    scopes: list[Literal["publish", "subscribe", "read", "admin"]] = Field(
        min_length=1, description="What it may do; `admin` stands for all."
    )
    topics: Annotated[
        list[Annotated[str, Field(pattern=r"^[A-Za-z0-9._*-]{1,128}$")]],
        BeforeValidator(lambda given: ["*"] if given is None else given),
    ] = Field(default_factory=lambda: ["*"], description="Names; `*` stands for any part.")
    quota: Annotated[QuotaBody, BeforeValidator(lambda given: given or {})] = Field(
        default_factory=lambda: QuotaBody(), description="What it may use; nothing means no bounds."
    )
    labels: Labels = _LABELLED


class RotateBody(Body):
    """How long the old secret still counts."""

    model_config = _shown({"grace": 3600})

    grace: float = Field(
        default=3600,
        ge=0,
        le=30 * 86_400,
        validation_alias=AliasChoices("grace", "grace_seconds", "grace_period"),
        description="Seconds that the old secret still counts.",
    )
