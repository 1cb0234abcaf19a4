"""Where a webhook may go: a name is resolved once, every address is judged, and the call goes to one of them.

A name that resolves to a public address when it is checked and to a private one when it is called would lead
a call into the server's own network. So the address that was judged is the one that is connected to.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias
from urllib.parse import urlsplit

from pathcast.service.settings import Network

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Place: TypeAlias = tuple[str, str, str]
"""Where a connection leads: the name, the scheme, and the address with the port."""

# A name server may be slow on purpose. The threads that look at the store must not wait for it.
_LOOKUPS = ThreadPoolExecutor(256, "lookups")
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Whatever the library of this Python says of them.
_NEVER = [
    ipaddress.ip_network(network)
    for network in (
        *("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15", "240.0.0.0/4"),
        *("::/96", "::ffff:0:0:0/96", "64:ff9b:1::/48"),  # IPv4 addresses in other ways, all of them
        *("fec0::/10", "5f00::/16", "3fff::/20"),
    )
]


class ForbiddenAddressError(ValueError):
    """A receiver that the administrator did not allow."""


@dataclass(frozen=True, slots=True)
class Target:
    """A receiver with the one address that calls go to."""

    url: str
    """The address with the host replaced."""
    host: str
    """What the header ``Host`` says."""
    name: str
    """What the certificate must be for."""

    @property
    def place(self) -> Place:
        """What another call must share to go over the same connection."""
        parts = urlsplit(self.url)
        return self.name, parts.scheme, parts.netloc


def check_url(url: str, allowed: Sequence[Network]) -> None:
    """`ValueError` with a sentence when a receiver's URL can never be called."""
    try:
        parts = urlsplit(url)
        host, _ = _ascii(parts.hostname or ""), parts.port
    except ValueError:
        raise ValueError("the URL of a webhook is not a URL") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ValueError("the URL of a webhook begins with https:// or http:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise ValueError("the URL of a webhook holds no user and no password")
    if any(ord(character) <= 32 or ord(character) == 127 for character in url):
        raise ValueError("the URL of a webhook holds no blanks and no control characters")
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        return  # a name: judged when it is resolved
    if not permitted(literal, allowed):
        raise ForbiddenAddressError(_refusal(host))


def _refusal(host: str) -> str:
    return f"{host} is a loopback, link-local or private address, and the administrator did not allow it"


def permitted(address: Address, allowed: Sequence[Network]) -> bool:
    """Whether a call may go there.

    >>> [permitted(ipaddress.ip_address(text), ()) for text in ("93.184.216.34", "::ffff:10.0.0.1", "::1")]
    [True, False, False]
    """
    address = _embedded(address)
    if any(address.version == network.version and address in network for network in allowed):
        return True
    if any(address.version == network.version and address in network for network in _NEVER):
        return False
    return address.is_global and not address.is_multicast


def _embedded(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one, if that is what it leads to."""
    if isinstance(address, ipaddress.IPv6Address):
        for inner in (address.ipv4_mapped, address.sixtofour, (address.teredo or (None, None))[1]):
            if inner is not None:
                return inner
        if address in _NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


async def resolve(url: str, allowed: Sequence[Network]) -> Target:
    """Look the host up once; all its addresses must be permitted, and the first is the one to call."""
    parts = urlsplit(url)
    name = _ascii(parts.hostname or "")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    look = partial(socket.getaddrinfo, name, port, type=socket.SOCK_STREAM)
    found = await asyncio.get_running_loop().run_in_executor(_LOOKUPS, look)
    addresses = [ipaddress.ip_address(str(each[4][0]).partition("%")[0]) for each in found]
    if not addresses:
        raise OSError(f"{name} has no address")
    if not all(permitted(address, allowed) for address in addresses):
        raise ForbiddenAddressError(_refusal(name))
    chosen = addresses[0]
    literal = f"[{chosen}]" if chosen.version == 6 else str(chosen)
    pinned = parts._replace(netloc=f"{literal}:{port}", fragment="")
    host = parts.netloc if parts.netloc.isascii() else name + (f":{parts.port}" if parts.port else "")
    return Target(pinned.geturl(), host, name)


def _ascii(host: str) -> str:
    """A name as it is looked up and written in headers; `ValueError` when it is none."""
    return host if host.isascii() else host.encode("idna").decode("ascii")
