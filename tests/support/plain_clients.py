"""HTTP clients without any SDK: each sends bytes to an address and reads the whole answer."""

from __future__ import annotations

import asyncio
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import httpx
import httpx2
import requests
import urllib3

Send = Callable[[str, bytes, "dict[str, str]"], tuple[int, bytes]]
"""``send(url, body, headers)`` gives the status and the bytes of the answer."""

PIECE = 64
"""Bytes that are read at once, where the client reads in pieces."""


def by_httpx(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """In one piece."""
    response = httpx.post(url, content=body, headers=headers)
    return response.status_code, response.content


def by_httpx_streamed(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """By httpx's successor, as it comes."""
    with httpx2.stream("POST", url, content=body, headers=headers) as response:
        return response.status_code, b"".join(response.iter_bytes())


def by_async_httpx(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """By the asynchronous client, as lines come."""

    async def run() -> tuple[int, bytes]:
        async with (
            httpx.AsyncClient() as client,
            client.stream("POST", url, content=body, headers=headers) as response,
        ):
            return response.status_code, b"".join([each async for each in response.aiter_bytes()])

    return asyncio.run(run())


def by_requests(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """In one piece."""
    response = requests.post(url, data=body, headers=headers, timeout=30)
    return response.status_code, response.content


def by_requests_streamed(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """As it comes."""
    with requests.post(url, data=body, headers=headers, stream=True, timeout=30) as response:
        return response.status_code, b"".join(response.iter_content(PIECE))


def by_urllib3(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """In one piece."""
    response = urllib3.PoolManager(retries=False).request("POST", url, body=body, headers=headers)
    return response.status, response.data


def by_urllib3_streamed(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """As it comes."""
    pool = urllib3.PoolManager(retries=False)
    response = pool.request("POST", url, body=body, headers=headers, preload_content=False)
    found = b"".join(response.stream(PIECE, decode_content=True))
    response.release_conn()
    return response.status, found


def by_urllib(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """In one piece, which the library does not unpack."""
    request = urllib.request.Request(url, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def by_http_client(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """Line by line, which the library does not unpack."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    found = b"".join(response)
    connection.close()
    return response.status, found


def by_aiohttp(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """In one piece."""

    async def run() -> tuple[int, bytes]:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers=headers) as response,
        ):
            return response.status, await response.read()

    return asyncio.run(run())


def by_aiohttp_streamed(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """As it comes."""

    async def run() -> tuple[int, bytes]:
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, data=body, headers=headers) as response,
        ):
            pieces: Any = response.content.iter_chunked(PIECE)
            return response.status, b"".join([piece async for piece in pieces])

    return asyncio.run(run())


CLIENTS: dict[str, Send] = {
    "httpx": by_httpx,
    "httpx, streamed": by_httpx_streamed,
    "httpx, asynchronous": by_async_httpx,
    "requests": by_requests,
    "requests, streamed": by_requests_streamed,
    "urllib3": by_urllib3,
    "urllib3, streamed": by_urllib3_streamed,
    "urllib": by_urllib,
    "http.client": by_http_client,
    "aiohttp": by_aiohttp,
    "aiohttp, streamed": by_aiohttp_streamed,
}
"""Each in its ways."""
