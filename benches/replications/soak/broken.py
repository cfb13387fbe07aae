"""Broken clients of an HTTP server: each breaks off, or sends what it should not."""

import asyncio
import random
from collections.abc import Callable

# The pause of a slow client after each byte.
PIECE_SECONDS = 0.02
# Servers give a client 30 s for its head.
PATIENCE = 40
HUGE = 1 << 20


async def slow(request, writer):
    """Sends its request byte by byte, to the end."""
    for byte in request:
        writer.write(bytes([byte]))
        await asyncio.sleep(PIECE_SECONDS)


async def silent(request, writer):
    """Stops in the middle of its request, and waits."""
    writer.write(request[: len(request) // 2])


async def half_closed(request, writer):
    """Announces a body, sends the first bytes of it, and closes its side."""
    writer.write(request[:-2] + b"content-length: 38\r\n\r\nsix by")
    writer.write_eof()


async def garbage(request, writer):
    """Sends its request with a few bytes changed at random."""
    changed = bytearray(request)
    for _ in range(random.randint(1, 8)):
        changed[random.randrange(len(changed))] = random.randrange(256)
    writer.write(changed)
    writer.write_eof()


async def huge(request, writer):
    """Sends a header of a megabyte."""
    writer.write(request[:-2] + b"x-huge: " + HUGE * b"x" + b"\r\n\r\n")
    await writer.drain()


KINDS = (slow, silent, half_closed, garbage, huge)


async def visit(kind: Callable, host: str, request: bytes) -> str:
    """How a broken client ends: with a status, `closed` or `refused` by the server, or `open` after a long wait."""
    try:
        reader, writer = await asyncio.open_connection(*host.split(":"))
    except OSError:
        return "refused"
    answer = b""
    try:
        async with asyncio.timeout(PATIENCE):
            await kind(request[:-2] + b"connection: close\r\n\r\n", writer)
            answer = await reader.read()
    except TimeoutError:
        return "open"
    except OSError:
        # A server that refuses a request may close before it has read everything.
        pass
    finally:
        writer.transport.abort()
    return answer[9:12].decode(errors="replace") or "closed"
