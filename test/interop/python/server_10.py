"""The official Python server, 1.x, with its layer for 0.3, and an agent that does what a test commands.

Prints its port on the first line, and stops when its standard input ends.
"""

import asyncio
import re
import socket
import sys
import threading

import grpc
import uvicorn
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.helpers import new_task_from_user_message, new_text_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.request_handlers.grpc_handler import GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, TaskState, a2a_pb2_grpc
from starlette.applications import Starlette


class Commands(AgentExecutor):
    """The same commands as every other server under test understands."""

    def __init__(self):
        self.cancelled = {}

    async def execute(self, context, event_queue):
        said = context.get_user_input()
        word, count = (re.match(r'conform: (\w+)\s*(\d*)', said) or re.match('()()', '')).groups()
        task = context.current_task
        if task is None and word not in ('task', 'stream', 'ask', 'wait', 'fail', 'reject', 'echo'):
            await event_queue.enqueue_event(new_text_message(f'you said: {said}', context_id=context.context_id))
            return
        if task is None:
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if task is not None:
            await updater.add_artifact([new_text_part(f'the answer was: {said}')], 'result', 'result', last_chunk=True)
            await updater.complete()
        elif word == 'wait':
            await self.until_cancelled(context.task_id)
        else:
            await self.work(word, int(count or 3), context, updater)

    async def until_cancelled(self, task_id):
        """Told by our own cancel, or by the SDK, which cancels the coroutine itself."""
        try:
            await self.cancelled.setdefault(task_id, asyncio.Event()).wait()
        except asyncio.CancelledError:
            pass

    async def work(self, word, count, context, updater):
        if word == 'task':
            await updater.add_artifact([new_text_part('done')], 'result', 'result', last_chunk=True)
        if word == 'echo':
            await updater.add_artifact(list(context.message.parts), 'echo', 'echo', last_chunk=True)
        if word == 'stream':
            for chunk in range(1, count + 1):
                parts = [new_text_part(f'chunk {chunk} ')]
                await updater.add_artifact(parts, 'stream', 'stream', append=chunk > 1, last_chunk=chunk == count)
        ends = {
            'ask': (TaskState.TASK_STATE_INPUT_REQUIRED, 'what is the answer?'),
            'fail': (TaskState.TASK_STATE_FAILED, 'as commanded'),
            'reject': (TaskState.TASK_STATE_REJECTED, 'as commanded'),
        }
        state, text = ends.get(word, (TaskState.TASK_STATE_COMPLETED, None))
        await updater.update_status(state, text and updater.new_agent_message([new_text_part(text)]))

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()
        self.cancelled.setdefault(context.task_id, asyncio.Event()).set()


def card_for(url, grpc_address):
    ways = [
        (url + '/rpc', 'JSONRPC', '1.0'),
        (url + '/rest', 'HTTP+JSON', '1.0'),
        (url + '/rpc', 'JSONRPC', '0.3'),
        (url + '/rest', 'HTTP+JSON', '0.3'),
        (grpc_address, 'GRPC', '1.0'),
        (grpc_address, 'GRPC', '0.3'),
    ]
    return AgentCard(
        name='official',
        description='the official server under test',
        version='1.0.0',
        supported_interfaces=[
            AgentInterface(url=address, protocol_binding=binding, protocol_version=version)
            for address, binding, version in ways
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='conform', name='Conform', description='commands', tags=['test'])],
    )


async def main():
    listening = socket.socket()
    listening.bind(('127.0.0.1', 0))
    listening.listen()
    port = listening.getsockname()[1]
    grpc_server = grpc.aio.server()
    grpc_port = grpc_server.add_insecure_port('127.0.0.1:0')
    card = card_for(f'http://127.0.0.1:{port}', f'127.0.0.1:{grpc_port}')
    handler = DefaultRequestHandler(agent_executor=Commands(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, rpc_url='/rpc', enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix='/rest', enable_v0_3_compat=True),
    ]
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), grpc_server)
    a2a_v0_3_pb2_grpc.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), grpc_server)
    await grpc_server.start()
    config = uvicorn.Config(Starlette(routes=routes), log_level='error', timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)

    def stop():
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop, daemon=True).start()
    print(port, flush=True)
    await server.serve(sockets=[listening])
    await grpc_server.stop(grace=0)


asyncio.run(main())
