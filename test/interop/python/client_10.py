"""A scripted conversation of the official Python client, 1.x, with the server at a URL.

Usage: client_10.py URL BINDING VERSION. Prints one JSON line per check: what was seen, for the caller to judge.
"""

import asyncio
import json
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.helpers import new_data_part, new_raw_part, new_text_part, new_url_part
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Role,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from google.protobuf.json_format import MessageToDict


def report(check, got):
    print(json.dumps({'check': check, 'got': got}), flush=True)


def state_of(status):
    return TaskState.Name(status.state).removeprefix('TASK_STATE_').lower().replace('_', '-')


def text_of(parts):
    return '\n'.join(part.text for part in parts if part.WhichOneof('content') == 'text')


def summary(task):
    return {'state': state_of(task.status), 'artifacts': {a.artifact_id: text_of(a.parts) for a in task.artifacts}}


def line(event):
    kind = event.WhichOneof('payload')
    if kind == 'message':
        return 'message ' + text_of(event.message.parts)
    if kind == 'task':
        return 'task ' + state_of(event.task.status)
    if kind == 'status_update':
        return 'status ' + state_of(event.status_update.status)
    update = event.artifact_update
    mark = '+' if update.append else ':'
    end = '!' if update.last_chunk else ''
    return f'artifact {update.artifact.artifact_id}{mark} {text_of(update.artifact.parts)}{end}'


def message(*parts, task_id=None, context_id=None):
    said = [new_text_part(part) if isinstance(part, str) else part for part in parts]
    return SendMessageRequest(
        message=Message(
            message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=said, task_id=task_id, context_id=context_id
        )
    )


async def refusal(awaitable):
    """The class of the error the SDK raises."""
    try:
        await awaitable
    except Exception as error:
        return type(error).__name__
    return 'no error'


async def all_of(events):
    return [event async for event in events]


async def client_for(http, url, binding, version, streaming):
    card = await A2ACardResolver(http, url).get_agent_card()
    only = [i for i in card.supported_interfaces if (i.protocol_binding, i.protocol_version) == (binding, version)]
    assert len(only) == 1, card.supported_interfaces
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(only)
    config = ClientConfig(
        streaming=streaming,
        httpx_client=http,
        grpc_channel_factory=grpc.aio.insecure_channel,
        supported_protocol_bindings=[binding],
    )
    return card, ClientFactory(config).create(card)


async def converse(url, binding, version):
    async with httpx.AsyncClient(timeout=30) as http:
        card, unary = await client_for(http, url, binding, version, False)
        _, live = await client_for(http, url, binding, version, True)

        async def send(*parts, **more):
            return (await all_of(unary.send_message(message(*parts, **more))))[0]

        report('card', {'name': card.name, 'streaming': card.capabilities.streaming})
        report('message', text_of((await send('hello')).message.parts))

        task = (await send('conform: task')).task
        report('task', summary(task))
        report('get', summary(await unary.get_task(GetTaskRequest(id=task.id))))

        report('stream', [line(e) async for e in live.send_message(message('conform: stream 3'))])
        report('streamed message', [line(e) async for e in live.send_message(message('hello'))])

        asked = (await send('conform: ask')).task
        report('question', [state_of(asked.status), text_of(asked.status.message.parts)])
        answered = (await send('42', task_id=asked.id, context_id=asked.context_id)).task
        report('answer', {'same task': answered.id == asked.id, **summary(answered)})

        first = live.send_message(message('conform: wait'))
        begun = await anext(first)
        second = live.subscribe(SubscribeToTaskRequest(id=begun.task.id))
        snapshot = await anext(second)
        readers = asyncio.gather(all_of(first), all_of(second))
        cancelled = await unary.cancel_task(CancelTaskRequest(id=begun.task.id))
        report(
            'cancel',
            {
                'snapshot': snapshot.task.id == begun.task.id,
                'cancelled': state_of(cancelled.status),
                'last': [line(events[-1]) for events in await readers],
            },
        )

        echoed = (
            await send(
                'conform: echo',
                new_raw_part(b'\x00\x01\xfe\xff', media_type='application/octet-stream', filename='four.bin'),
                new_url_part('https://files.example/a.txt', media_type='text/plain', filename='a.txt'),
                new_data_part({'deep': [1, {'ok': True}]}),
            )
        ).task
        report('parts', [MessageToDict(part) for part in echoed.artifacts[0].parts])

        failed = (await send('conform: fail')).task
        report('failed', [state_of(failed.status), text_of(failed.status.message.parts)])

        if version == '1.0':
            page = await unary.list_tasks(ListTasksRequest(context_id=task.context_id))
            report('list', {'total': page.total_size, 'same task': [t.id == task.id for t in page.tasks]})

        hook = TaskPushNotificationConfig(task_id=task.id, id='hook', url='https://hooks.example/a')
        report(
            'refusals',
            {
                'get of an unknown task': await refusal(unary.get_task(GetTaskRequest(id='nobody'))),
                'cancel of an unknown task': await refusal(unary.cancel_task(CancelTaskRequest(id='nobody'))),
                'a message for an unknown task': await refusal(send('more', task_id='nobody')),
                'cancel of a finished task': await refusal(unary.cancel_task(CancelTaskRequest(id=task.id))),
                'a message for a finished task': await refusal(
                    send('more', task_id=task.id, context_id=task.context_id)
                ),
                'subscribe to an unknown task': await refusal(
                    all_of(live.subscribe(SubscribeToTaskRequest(id='nobody')))
                ),
                'a message of another context': await refusal(send('more', task_id=asked.id, context_id='other')),
                'a push configuration': await refusal(unary._transport.create_task_push_notification_config(hook)),
            },
        )
        report('afterwards', text_of((await send('still there?')).message.parts))


asyncio.run(converse(*sys.argv[1:4]))
