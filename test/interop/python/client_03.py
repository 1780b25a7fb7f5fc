"""A scripted conversation of the official Python client, 0.3.x, with the server at a URL.

Usage: client_03.py URL BINDING. Prints one JSON line per check: what was seen, for the caller to judge.
"""

import asyncio
import base64
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    Message,
    Part,
    Role,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    PushNotificationConfig,
    TextPart,
)


def report(check, got):
    print(json.dumps({'check': check, 'got': got}), flush=True)


def text_of(parts):
    return '\n'.join(part.root.text for part in parts if part.root.kind == 'text')


def summary(task):
    return {
        'state': task.status.state.value,
        'artifacts': {a.artifact_id: text_of(a.parts) for a in task.artifacts or []},
    }


def line(event):
    """The client gives a message, or a pair: the task as it stands, and the update that made it so."""
    if isinstance(event, Message):
        return 'message ' + text_of(event.parts)
    task, update = event
    if update is None:
        return 'task ' + task.status.state.value
    if isinstance(update, TaskArtifactUpdateEvent):
        mark = '+' if update.append else ':'
        end = '!' if update.last_chunk else ''
        return f'artifact {update.artifact.artifact_id}{mark} {text_of(update.artifact.parts)}{end}'
    return f'status {update.status.state.value}{", final" if update.final else ""}'


def message(*parts, task_id=None, context_id=None):
    said = [Part(root=TextPart(text=part)) if isinstance(part, str) else part for part in parts]
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=said, task_id=task_id, context_id=context_id)


async def refusal(awaitable):
    """The code in the error the SDK raises: of JSON-RPC, or the HTTP status, which is all it reads on REST."""
    try:
        await awaitable
    except A2AClientJSONRPCError as error:
        return error.error.code
    except A2AClientHTTPError as error:
        return error.status_code
    except Exception as error:
        return f'{type(error).__name__}: {error}'
    return 'no error'


async def all_of(events):
    return [event async for event in events]


async def client_for(http, url, binding, streaming):
    card = await A2ACardResolver(http, url).get_agent_card()
    config = ClientConfig(
        streaming=streaming, httpx_client=http, supported_transports=[binding], use_client_preference=True
    )
    return card, ClientFactory(config).create(card)


async def converse(url, binding):
    async with httpx.AsyncClient(timeout=30) as http:
        card, unary = await client_for(http, url, binding, False)
        _, live = await client_for(http, url, binding, True)

        async def send(*parts, **more):
            events = await all_of(unary.send_message(message(*parts, **more)))
            return events[0] if isinstance(events[0], Message) else events[0][0]

        report('card', {'name': card.name, 'streaming': card.capabilities.streaming})
        report('message', text_of((await send('hello')).parts))

        task = await send('conform: task')
        report('task', summary(task))
        report('get', summary(await unary.get_task(TaskQueryParams(id=task.id))))

        report('stream', [line(e) async for e in live.send_message(message('conform: stream 3'))])
        report('streamed message', [line(e) async for e in live.send_message(message('hello'))])

        asked = await send('conform: ask')
        report('question', [asked.status.state.value, text_of(asked.status.message.parts)])
        answered = await send('42', task_id=asked.id, context_id=asked.context_id)
        report('answer', {'same task': answered.id == asked.id, **summary(answered)})

        first = live.send_message(message('conform: wait'))
        begun, _ = await anext(first)
        second = live.resubscribe(TaskIdParams(id=begun.id))
        snapshot, _ = await anext(second)
        readers = asyncio.gather(all_of(first), all_of(second))
        cancelled = await unary.cancel_task(TaskIdParams(id=begun.id))
        report(
            'cancel',
            {
                'snapshot': snapshot.id == begun.id,
                'cancelled': cancelled.status.state.value,
                'last': [line(events[-1]) for events in await readers],
            },
        )

        four = base64.b64encode(b'\x00\x01\xfe\xff').decode()
        echoed = await send(
            'conform: echo',
            Part(root=FilePart(file=FileWithBytes(bytes=four, mime_type='application/octet-stream'))),
            Part(root=FilePart(file=FileWithUri(uri='https://files.example/a.txt', mime_type='text/plain'))),
            Part(root=DataPart(data={'deep': [1, {'ok': True}]})),
        )
        report('parts', [p.model_dump(mode='json', exclude_none=True) for p in echoed.artifacts[0].parts])

        failed = await send('conform: fail')
        report('failed', [failed.status.state.value, text_of(failed.status.message.parts)])

        hook = TaskPushNotificationConfig(
            task_id=task.id,
            push_notification_config=PushNotificationConfig(id='hook', url='https://hooks.example/a'),
        )
        report(
            'refusals',
            {
                'get of an unknown task': await refusal(unary.get_task(TaskQueryParams(id='nobody'))),
                'cancel of an unknown task': await refusal(unary.cancel_task(TaskIdParams(id='nobody'))),
                'a message for an unknown task': await refusal(send('more', task_id='nobody')),
                'cancel of a finished task': await refusal(unary.cancel_task(TaskIdParams(id=task.id))),
                'a message for a finished task': await refusal(
                    send('more', task_id=task.id, context_id=task.context_id)
                ),
                'subscribe to an unknown task': await refusal(all_of(live.resubscribe(TaskIdParams(id='nobody')))),
                'a message of another context': await refusal(send('more', task_id=asked.id, context_id='other')),
                'a push configuration': await refusal(unary.set_task_callback(hook)),
            },
        )
        report('afterwards', text_of((await send('still there?')).parts))


asyncio.run(converse(*sys.argv[1:3]))
