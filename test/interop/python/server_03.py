"""The official Python server, 0.3.x, both HTTP bindings, and an agent that does what a test commands.

Prints its port on the first line, and stops when its standard input ends.
"""

import asyncio
import re
import socket
import sys
import threading

import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TaskState, TextPart
from a2a.utils import new_agent_text_message, new_task


def text_part(text):
    return Part(root=TextPart(text=text))


class Commands(AgentExecutor):
    """The same commands as every other server under test understands."""

    def __init__(self):
        self.cancelled = {}

    async def execute(self, context, event_queue):
        said = context.get_user_input()
        word, count = (re.match(r'conform: (\w+)\s*(\d*)', said) or re.match('()()', '')).groups()
        task = context.current_task
        if task is None and word not in ('task', 'stream', 'ask', 'wait', 'fail', 'reject', 'echo'):
            await event_queue.enqueue_event(new_agent_text_message(f'you said: {said}', context.context_id))
            return
        if task is None:
            await event_queue.enqueue_event(new_task(context.message))
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.start_work()
        if task is not None:
            await updater.add_artifact([text_part(f'the answer was: {said}')], 'result', 'result', last_chunk=True)
            await updater.complete()
        elif word == 'wait':
            await self.until_cancelled(context.task_id)
            await updater.cancel()
            # The SDK closes the queue when we return, with whatever its readers have not taken yet.
            await asyncio.sleep(1)
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
            await updater.add_artifact([text_part('done')], 'result', 'result', last_chunk=True)
        if word == 'echo':
            await updater.add_artifact(context.message.parts, 'echo', 'echo', last_chunk=True)
        if word == 'stream':
            for chunk in range(1, count + 1):
                parts = [text_part(f'chunk {chunk} ')]
                await updater.add_artifact(parts, 'stream', 'stream', append=chunk > 1, last_chunk=chunk == count)
        ends = {
            'ask': (TaskState.input_required, 'what is the answer?'),
            'fail': (TaskState.failed, 'as commanded'),
            'reject': (TaskState.rejected, 'as commanded'),
        }
        state, text = ends.get(word, (TaskState.completed, None))
        await updater.update_status(state, text and updater.new_agent_message([text_part(text)]), final=True)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()
        self.cancelled.setdefault(context.task_id, asyncio.Event()).set()


def card_for(url):
    return AgentCard(
        name='official',
        description='the official server under test',
        version='1.0.0',
        url=url + '/rpc',
        preferred_transport='JSONRPC',
        additional_interfaces=[AgentInterface(url=url + '/rest', transport='HTTP+JSON')],
        capabilities=AgentCapabilities(streaming=True, push_notifications=False),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='conform', name='Conform', description='commands', tags=['test'])],
    )


def main():
    listening = socket.socket()
    listening.bind(('127.0.0.1', 0))
    listening.listen()
    port = listening.getsockname()[1]
    card = card_for(f'http://127.0.0.1:{port}')
    handler = DefaultRequestHandler(agent_executor=Commands(), task_store=InMemoryTaskStore())
    app = A2AStarletteApplication(agent_card=card, http_handler=handler).build(rpc_url='/rpc')
    app.mount('/', A2ARESTFastAPIApplication(agent_card=card, http_handler=handler).build(rpc_url='/rest'))
    server = uvicorn.Server(uvicorn.Config(app, log_level='error', timeout_graceful_shutdown=1))

    def stop():
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=stop, daemon=True).start()
    print(port, flush=True)
    server.run(sockets=[listening])


main()
