"""A caller of agent-connect 0.3.5: opens an encrypted session with a DID, sends messages, and one that was altered.

Arguments: the DID. Prints one JSON object for each check.
"""

import asyncio
import json
import logging
import sys

from agent_connect.simple_node import SimpleNode

logging.basicConfig(stream=sys.stderr, level=logging.ERROR)


def report(check: str, got: object) -> None:
    print(json.dumps({"check": check, "got": got}), flush=True)


async def nobody(_session: object) -> None:
    return None


async def main() -> None:
    node = SimpleNode("127.0.0.1", nobody, "1")
    key, did, document = node.generate_did_document()
    node.set_did_info(key, did, document)
    report("did", did)
    session = await node.connect_to_did(sys.argv[1])
    report("connected", session is not None)
    if session is None:
        return
    message = {"type": "anp_message", "request_id": "r-1", "source_did": "did:all:somebody", "payload": {"text": "who"}}
    await session.send_message(json.dumps(message))
    report("json", json.loads(await session.receive_message()))
    await session.send_message("plain words")
    report("words", (await session.receive_message()).decode())
    await session.send_message(b"\x40" + json.dumps({**message, "request_id": "r-2"}).encode())
    typed = await session.receive_message()
    report("typed", [typed[0], json.loads(typed[1:])["request_id"]])
    # One byte of a sealed message is changed on its way.
    send = session.wss_wraper.send_data

    async def altered(data: dict) -> None:
        if data["type"] == "message":
            sealed = data["encryptedData"]["ciphertext"]
            data["encryptedData"]["ciphertext"] = ("B" if sealed[0] == "A" else "A") + sealed[1:]
        await send(data)

    session.wss_wraper.send_data = altered
    await session.send_message(json.dumps(message))
    try:
        report("altered", (await session.receive_message() or b"").decode())
    except Exception as error:  # the name of the error is what is reported
        report("altered", type(error).__name__)
    report("closed", session.wss_wraper.websocket.close_reason or session.wss_wraper.websocket.close_code)


asyncio.run(asyncio.wait_for(main(), 60))
