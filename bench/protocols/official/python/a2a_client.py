"""The caller of the benchmark on the official Python client of A2A, a2a-sdk 0.3.3."""

import asyncio
import uuid

import httpx
from lines import run_client
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, TextPart


async def connect(urls, seconds):
    http = httpx.AsyncClient(timeout=seconds)
    config = ClientConfig(streaming=False, httpx_client=http)
    clients = {url: ClientFactory(config).create(await A2ACardResolver(http, url).get_agent_card()) for url in urls}

    async def send(url, text):
        parts = [Part(root=TextPart(text=text))]
        message = Message(message_id=str(uuid.uuid4()), role=Role.user, parts=parts)
        async for event in clients[url].send_message(message):
            return ''.join(part.root.text for part in event.parts)

    return send


asyncio.run(run_client(connect))
