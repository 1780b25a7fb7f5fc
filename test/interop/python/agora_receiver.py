"""The Receiver and ReceiverServer of agora-protocol, with a scripted model behind its Toolformer interface.

Prints its port on the first line, and stops when its standard input ends.
"""

import sys

sys.dont_write_bytecode = True

import json  # noqa: E402
import logging  # noqa: E402
import os  # noqa: E402
import threading  # noqa: E402

from agora_scripted import MemoryStorage, ScriptedToolformer  # noqa: E402 isort: skip
from agora import Receiver, ReceiverServer  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

ONE_ROUND = """
<IMPLEMENTATION>
import json

def reply(query):
    return json.dumps({'by': 'routine', 'got': json.loads(query), 'temperature': 21})
</IMPLEMENTATION>
"""

MANY_ROUNDS = """
<IMPLEMENTATION>
import json

def reply(query, memory):
    said = memory.get('said', []) + [query]
    return json.dumps({'by': 'routine', 'said': said}), {'said': said}
</IMPLEMENTATION>
"""

OFFERED = """---
name: Temperature
description: the temperature of a city
multiround: false
---
Send {"city": string}. The answer is {"temperature": integer}, in degrees Celsius."""


def check(prompt, tools):
    """Everything can be served that does not say otherwise itself."""
    return lambda message, _round: 'No tool for it. NO' if 'nobody can serve this' in message else 'It is plain. YES'


def program(prompt, tools):
    return lambda _message, _round: MANY_ROUNDS if 'def reply(query, memory)' in prompt else ONE_ROUND


def negotiate(prompt, tools):
    """Says what it can do, and from the second message on offers a document."""
    return lambda _message, number: 'I know temperatures.' if number == 1 else json.dumps({'document': OFFERED})


def converse(prompt, tools):
    return follow_document if 'The protocol is the following' in prompt else talk


def follow_document(message, number):
    return json.dumps({'by': 'model', 'round': number, 'got': message, 'temperature': 21})


def talk(message, number):
    """The natural language of this agent: what the conformance agent understands, as far as Agora can carry it."""
    if message == 'conform: throw':
        raise RuntimeError('inner secret: this must not leave the process')
    if message == 'conform: count':
        return f'message {number} of this conversation'
    if message == 'conform: forget':
        # As its timer does after five minutes.
        SERVER.conversation_storage.clear()
        return 'forgotten'
    if str(message).startswith('How warm is it'):
        return 'It is 21 degrees.'
    return f'you said: {message}'


MODEL = ScriptedToolformer(
    {'protocolChecking': check, 'programming': program, 'negotiation': negotiate, 'conversation': converse}
)
SERVER = ReceiverServer(Receiver.make_default(MODEL, storage=MemoryStorage()))


def main():
    # One line for every request otherwise, and a stack for every refusal.
    logging.getLogger('werkzeug').setLevel(logging.ERROR)
    listening = make_server('127.0.0.1', 0, SERVER.app, threaded=True)

    def stop():
        sys.stdin.read()
        listening.shutdown()

    threading.Thread(target=stop, daemon=True).start()
    port = str(listening.server_port)
    # An executor of the library prints its answers, which nobody reads.
    out, sys.stdout = sys.stdout, open(os.devnull, 'w')
    print(port, file=out, flush=True)
    listening.serve_forever()
    # Every conversation leaves a timer of five minutes behind that the process would wait for.
    os._exit(0)


if __name__ == '__main__':
    main()
