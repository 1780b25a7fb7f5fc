"""What the official programs of the benchmark share: lines of JSON in and out, and the clock of the benchmark.

A server prints {} when it is loaded, reads {"name", "publicUrl", "port"}, prints {"port"} when it listens, and then one line for
each answer of its handler. A client prints {}, reads {"connect", "timeoutMs"}, prints {"connected"}, and then answers each
{"seq", "url", "text"}. Both end when their standard input does.
"""

import asyncio
import json
import os
import socket
import sys
import threading
import time

# Libraries print what they like; only these lines are for the benchmark.
OUT = os.fdopen(os.dup(1), 'w')
sys.stdout = sys.stderr


def show(**line):
    OUT.write(json.dumps(line) + '\n')
    OUT.flush()


def now():
    """The monotonic clock, which is also that of process.hrtime."""
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def answer(text):
    """The shared handler: the null model. Prints when it began and ended."""
    started = now()
    said = text
    show(text=text, started=started, ended=now())
    return said


def listen(port):
    # With the protocol named: asyncio sets TCP_NODELAY only on sockets that say they are TCP, and without it every answer waits 40 ms for an ACK.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(('127.0.0.1', port))
    listening.listen(128)
    return listening


def read_start():
    show()
    line = sys.stdin.readline()
    return json.loads(line)


def end_with_input():
    """Nothing of the library may keep the process alive."""

    def wait():
        sys.stdin.read()
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


async def serve_app(make_app, start):
    """Runs an ASGI application. `make_app` takes the start line."""
    import uvicorn

    listening = listen(start['port'])
    server = uvicorn.Server(uvicorn.Config(make_app(start), log_level='critical', timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    end_with_input()
    show(port=listening.getsockname()[1])
    await serving


async def run_client(connect):
    """`connect(urls, timeout_seconds)` returns an async function (url, text) -> text."""
    start = read_start()
    seconds = start['timeoutMs'] / 1000
    send = await connect(start['connect'], seconds)
    show(connected=True)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running = set()
    while line := await reader.readline():
        task = asyncio.create_task(one(send, json.loads(line), seconds))
        running.add(task)
        task.add_done_callback(running.discard)
    os._exit(0)


async def one(send, request, seconds):
    started = now()
    try:
        said = await asyncio.wait_for(send(request['url'], request['text']), seconds)
        show(seq=request['seq'], answer=said, started=started, done=now())
    except asyncio.TimeoutError:
        show(seq=request['seq'], error='no answer in time', timeout=True, started=started, done=now())
    except Exception as error:  # whatever the library raises is the outcome of this request
        text = f'{type(error).__name__}: {error}'[:300]
        show(seq=request['seq'], error=text, timeout=False, started=started, done=now())
