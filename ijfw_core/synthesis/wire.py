"""An HTTP client for transports that trusts no server: for httpx and what is made like it.

It follows no redirect (the log says which host is asked), takes no packed body (a small one can
unpack to gigabytes), and reads no more than 1 MiB. A proxy of the environment counts, except for
this computer itself.
"""

import ipaddress
from collections.abc import Iterator
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

MOST_BYTES = 1 << 20  # of an answer; an honest one has some thousand


class TooLargeError(Exception):
    """A server sent more than anybody asked for."""


def host_of(url: str) -> str:
    """The host of a URL with its port. Raises ValueError where it is no http(s) URL, or names
    a user, or would go unencrypted to another computer."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ValueError(f"{url!r} is no http(s) URL")
    if parts.username is not None or parts.password is not None:
        raise ValueError("a URL with a user or a password in it is refused")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError(f"{parts.hostname} is another computer: only https is used for it")
    return parts.netloc


def is_loopback(name: str) -> bool:
    """Whether a host name means this computer, without asking a name server."""
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def options(httpx: ModuleType, url: str, *, tries: int = 0) -> dict[str, Any]:
    """Arguments for a client of `httpx` (or `httpx2`) that talks to `url`.

    `tries` is how often a connection is tried again; for SDKs that do not do that themselves.
    """
    inner = httpx.HTTPTransport(proxy=_proxy(url), retries=tries, trust_env=False)
    return {
        "transport": _bounded(httpx, inner),
        "follow_redirects": False,
        "trust_env": False,
        "headers": {"Accept-Encoding": "identity"},
    }


def _proxy(url: str) -> str | None:
    from urllib.request import getproxies, proxy_bypass

    parts = urlsplit(url)
    name = parts.hostname or ""
    if is_loopback(name) or proxy_bypass(name):
        return None
    return getproxies().get(parts.scheme)


def _bounded(httpx: ModuleType, inner: Any) -> Any:
    """A transport whose answers are bounded. Made here because `httpx` is imported late."""

    class Stream(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for chunk in self._stream:
                size += len(chunk)
                if size > MOST_BYTES:
                    raise TooLargeError("the answer is longer than 1 MiB")
                yield chunk

        def close(self) -> None:
            self._stream.close()

    class Transport(httpx.BaseTransport):  # type: ignore[misc, name-defined]
        def handle_request(self, request: Any) -> Any:
            response = inner.handle_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                response.close()
                raise TooLargeError("the answer is packed, which was not asked for")
            return httpx.Response(
                response.status_code,
                headers=response.headers,
                stream=Stream(response.stream),
                extensions=response.extensions,
            )

        def close(self) -> None:
            inner.close()

    return Transport()
