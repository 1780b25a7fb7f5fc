"""The agent of the benchmark on the official Python server of A2A, a2a-sdk 0.3.3."""

import asyncio

from lines import answer, read_start, serve_app
from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentSkill
from a2a.utils import new_agent_text_message


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        said = answer(context.get_user_input())
        await event_queue.enqueue_event(new_agent_text_message(said, context.context_id))

    async def cancel(self, context, event_queue):
        raise NotImplementedError


def make_app(start):
    card = AgentCard(
        name=start['name'],
        description='An agent of the benchmark',
        version='1.0.0',
        url=start['publicUrl'] + '/',
        preferred_transport='JSONRPC',
        capabilities=AgentCapabilities(streaming=True, push_notifications=False),
        default_input_modes=['text/plain'],
        default_output_modes=['text/plain'],
        skills=[AgentSkill(id='echo', name='Echo', description='echoes', tags=['bench'])],
    )
    handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore())
    return A2AStarletteApplication(agent_card=card, http_handler=handler).build()


asyncio.run(serve_app(make_app, read_start()))
