"""One call of a receiver, bounded in every direction: time, redirects, address, size of the answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import httpx

import pathcast
from pathcast.service.settings import Network
from pathcast.service.webhooks import addresses, signature
from pathcast.service.webhooks.connections import Connections

ANSWER_BYTES = 64 << 10  # of a receiver's answer; the rest is not read


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended."""

    ok: bool
    seconds: float
    status: int | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """What a receiver gets, by whichever channel."""

    id: str
    body: bytes
    content_type: str | None
    document: str
    topic: str
    subscription: str
    trace: str | None = None

    def headers(self) -> dict[str, str]:
        """What it is, beside the body."""
        headers = {
            "content-type": self.content_type or "application/xml",
            "pathcast-document": self.document,
            "pathcast-topic": self.topic,
            "pathcast-subscription": self.subscription,
        }
        if self.trace:
            headers["traceparent"] = self.trace
        return headers

    def signed(self, secret: str, now: float) -> dict[str, str]:
        """The headers of a call, signed for this moment."""
        timestamp = int(now)
        return self.headers() | {
            "user-agent": f"pathcast/{pathcast.__version__}",
            "webhook-id": self.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature.sign(secret, self.id, timestamp, self.body),
        }


class Sender:
    """Makes calls; one for each process."""

    def __init__(self, allowed: Sequence[Network], timeout: float) -> None:
        self._allowed = allowed
        self._timeout = timeout
        self._connections = Connections(timeout)

    async def call(self, webhook: Mapping[str, str], letter: Letter, now: float) -> Outcome:
        """Call a receiver; never raises for what a receiver does."""
        began = time.perf_counter()
        status: int | None = None
        reason: str | None = None
        try:
            async with asyncio.timeout(self._timeout):
                status = await self._post(webhook["url"], letter.body, letter.signed(webhook["secret"], now))
        except TimeoutError:
            reason = f"no answer within {self._timeout:g} s"
        except addresses.ForbiddenAddressError as error:
            reason = str(error)
        except OSError as error:
            reason = f"the address cannot be found: {error.strerror or error}"
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            reason = f"{type(error).__name__}: {error}"[:500]
        ok = status is not None and 200 <= status < 300
        if status is not None and not ok:
            reason = f"answered {status}" + (", and redirects are not followed" if status // 100 == 3 else "")
        return Outcome(ok, time.perf_counter() - began, status, reason)

    async def _post(self, url: str, body: bytes, headers: dict[str, str]) -> int:
        target = await addresses.resolve(url, self._allowed)
        async with self._connections.lent(target) as client:
            request = client.build_request(
                "POST",
                target.url,
                content=body,
                headers={**headers, "Host": target.host},
                extensions={"sni_hostname": target.name},
            )
            response = await client.send(request, stream=True)
            try:
                read = 0
                async for chunk in response.aiter_raw():
                    read += len(chunk)
                    if read > ANSWER_BYTES:
                        break  # the status is known; closing drops the connection
            finally:
                await response.aclose()
            return response.status_code

    async def close(self) -> None:
        """Close all connections that no call uses."""
        await self._connections.close()
