"""An agent of agent-connect 0.3.5: a SimpleNode that answers the messages of its encrypted sessions.

Arguments: the port. Prints the port, on the second line its DID, and later a line for each message that it refuses.
"""

import asyncio
import json
import logging
import sys

import uvicorn
from agent_connect.simple_node import SimpleNode, SimpleNodeSession

logging.basicConfig(stream=sys.stderr, level=logging.ERROR)


async def answer(session: SimpleNodeSession) -> None:
    while True:
        received = await session.receive_message()
        if received is None:
            # What it cannot decrypt is None: nobody is told, and the session goes on.
            print("refused", flush=True)
            continue
        text = received.decode()
        if not text.startswith("{"):
            await session.send_message(f"heard: {text}")
            continue
        message = json.loads(text)
        content = {"text": f"heard from {session.remote_did}: {message['payload']['text']}"}
        await session.send_message(
            json.dumps(
                {
                    "type": "anp_response",
                    "request_id": message["request_id"],
                    "payload": {"content": content, "context": {}, "metadata": {}},
                    "timestamp": 1.0,
                }
            )
        )
        if message["payload"]["text"] == "call back":
            started = {"type": "anp_message", "request_id": "own-1", "payload": {"text": "started by the peer"}}
            await session.send_message(json.dumps(started))


async def main() -> None:
    port = sys.argv[1]
    node = SimpleNode("127.0.0.1", answer, port)
    key, did, document = node.generate_did_document()
    node.set_did_info(key, did, document)
    # `node.run()` would listen on every address of the machine.
    server = uvicorn.Server(uvicorn.Config(node.app, host="127.0.0.1", port=int(port), log_level="error"))
    serving = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.05)
    print(port, flush=True)
    print(did, flush=True)
    await serving


asyncio.run(asyncio.wait_for(main(), 120))
