"""Sends a message over gRPC to the agent at a URL, by the address on its card. Usage: grpc_send.py URL. Prints one JSON line."""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory


def config():
    try:
        return ClientConfig(supported_protocol_bindings=['GRPC'], grpc_channel_factory=grpc.aio.insecure_channel)
    except TypeError:  # 0.3 names it differently
        return ClientConfig(supported_transports=['GRPC'], grpc_channel_factory=grpc.aio.insecure_channel)


def request():
    try:
        from a2a.types import Message, Part, Role, SendMessageRequest

        message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text='hello')])
        return SendMessageRequest(message=message)
    except (ImportError, AttributeError):
        from a2a.types import Message, Part, Role, TextPart

        return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=[Part(root=TextPart(text='hello'))])


async def main(url):
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, url).get_agent_card()
    try:
        client = ClientFactory(config()).create(card)
        async with asyncio.timeout(10):
            events = [str(event) async for event in client.send_message(request())]
        got = any('you said: hello' in event for event in events)
    except Exception as problem:  # a failure is a result
        got = f'error: {type(problem).__name__}'
    print(json.dumps({'check': 'send', 'got': got}), flush=True)


asyncio.run(main(sys.argv[1]))
