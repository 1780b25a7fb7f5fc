"""The Sender of agora-protocol, with a scripted model behind its Toolformer interface, doing tasks at a URL.

Usage: agora_sender.py URL DOCUMENTS, where DOCUMENTS is a JSON object of protocol documents: `served`, `many rounds`,
`nobody` and `gone`, the last one by an address that answers 404. Prints one JSON line per check: what was seen, for the
caller to judge.
"""

import sys

sys.dont_write_bytecode = True

import json  # noqa: E402
import re  # noqa: E402

import requests  # noqa: E402
from agora_scripted import MemoryStorage, ScriptedToolformer  # noqa: E402 isort: skip
from agora import Protocol, Sender  # noqa: E402
from agora.sender.components.transporter import SimpleSenderTransporter  # noqa: E402
from agora.utils import compute_hash, encode_as_data_uri  # noqa: E402

TASKS = 18
ERROR = 'Error calling the tool: '
ROUTINE = """
<IMPLEMENTATION>
import json

def send_query(task_data):
    return json.loads(send_to_server(json.dumps({'city': task_data['city']})))['temperature']
</IMPLEMENTATION>
"""


def report(check, got):
    print(json.dumps({'check': check, 'got': got}), flush=True)


class Wire:
    """What went over the wire, in short words, seen below the library."""

    def __init__(self):
        self.lines = []
        send = requests.Session.send

        def watched(session, prepared, **options):
            response = send(session, prepared, **options)
            self.lines.append(short_line(prepared, response))
            return response

        requests.Session.send = watched

    def take(self):
        lines, self.lines = self.lines, []
        return lines


def short_line(prepared, response):
    place = re.sub('[0-9a-f]{8}-[0-9a-f-]{27}', 'ID', prepared.path_url)
    if prepared.body is None:
        return f'{prepared.method} {place} {response.status_code}'
    sent = json.loads(prepared.body)
    named = sent['protocolHash'] if sent['protocolHash'] in (None, 'negotiation') else 'document'
    sources = sent['protocolSources'] and [source.split(',')[0] for source in sent['protocolSources']]
    rounds = 'multiround' if sent.get('multiround') else 'single'
    return f'{prepared.method} {place} {named} {json.dumps(sources)} {rounds} {response.status_code}'


def query(prompt, tools):
    """Asks in natural language or by the document, and hands on the number it hears."""
    tools = {tool.name: tool for tool in tools}

    def answer(message, _round):
        city = json.loads(message.split('JSON data of the task:')[1])['city']
        asked = json.dumps({'city': city}) if 'Protocol document:' in message else f'How warm is it in {city}?'
        heard = tools['send_query'].func(asked)
        number = re.search(r'"temperature": ?(-?\d+)|(-?\d+) degrees', heard)
        if heard.startswith(ERROR) or number is None:
            tools['register_error'].func(heard)
        else:
            tools['deliverStructuredOutput'].func(output=int(number[1] or number[2]))
        return 'done'

    return answer


def negotiate(prompt, tools):
    """Asks for a document about temperatures, and takes the first one whose text is offered."""

    def answer(message, number):
        offered = find_document(message)
        if offered is not None:
            return f'<FINALPROTOCOL>{offered}</FINALPROTOCOL>'
        return f'I would like to ask for the temperature of a city. Which document shall we use? ({number})'

    return answer


def find_document(message):
    """The text of a document in the JSON of a reply, wherever it stands; prose may stand before it."""
    try:
        waiting = [json.loads(message[message.index('{') :])]
    except ValueError:
        return None
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, str) and value.startswith('---'):
            return value
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return None


def new_sender():
    toolformer = ScriptedToolformer(
        {
            'conversation': query,
            'negotiation': negotiate,
            'programming': lambda prompt, tools: lambda message, number: ROUTINE,
            'protocolChecking': lambda prompt, tools: lambda message, number: 'It fits. YES',
        }
    )
    sender = Sender.make_default(toolformer, storage=MemoryStorage())

    @sender.task()
    def temperature(city: str) -> int:
        """The temperature of a city.

        Args:
            city (str): The name of the city.

        Returns:
            int: Degrees Celsius.
        """

    return sender, temperature, toolformer


def teach(sender, document, routine=False):
    """Lets a sender know a document as one that fits, and has it used often enough for a routine if so wished."""
    known = Protocol(document, [], None)
    sender.memory.register_new_protocol(known.hash, document, [], known.metadata)
    sender.memory.set_default_suitability(known.hash, 'temperature', 'adequate')
    if routine:
        sender.memory.set_extra_field(known.hash, 'conversations', sender.implementation_threshold)


def outcome(function, *args, **more):
    """What comes back, or the class and text of what is raised."""
    try:
        return {'answer': function(*args, **more)}
    except Exception as error:
        text = re.sub('[0-9a-f]{8}-[0-9a-f-]{27}', 'ID', str(error))
        return {'raised': type(error).__name__, 'text': text}


def trace(url, wire):
    sender, temperature, toolformer = new_sender()
    for _ in range(TASKS):
        toolformer.asked.clear()
        answer = outcome(temperature, city='Paris', target=url)
        yield {**answer, 'wire': wire.take(), 'models': sorted(toolformer.asked)}


def say(url, document, *messages, multiround=False, sources=None):
    """The transporter alone, as a routine of the library uses it."""
    hashed = compute_hash(document) if document else None
    if sources is None:
        sources = [encode_as_data_uri(document)] if document else []
    with SimpleSenderTransporter().new_conversation(url, multiround, hashed, sources) as conversation:
        return [conversation(message) for message in messages]


def say_after_the_end(url):
    conversation = SimpleSenderTransporter().new_conversation(url, True, None, [])
    conversation('hello')
    conversation.close()
    conversation.close()
    return conversation('still there?')


def do_task(url, document, routine):
    sender, temperature, _ = new_sender()
    teach(sender, document, routine)
    return temperature(city='Paris', target=url)


def converse(url, documents):
    wire = Wire()
    _, temperature, _ = new_sender()
    report('natural language', {**outcome(temperature, city='Paris', target=url), 'wire': wire.take()})
    report('document', {**outcome(do_task, url, documents['served'], False), 'wire': wire.take()})
    report('routine', {**outcome(do_task, url, documents['served'], True), 'wire': wire.take()})
    report('conversation', {**outcome(say, url, None, 'one', 'two', 'three', multiround=True), 'wire': wire.take()})
    report(
        'many rounds',
        {**outcome(say, url, documents['many rounds'], 'one', 'two', multiround=True), 'wire': wire.take()},
    )
    report('trace', list(trace(url, wire)))

    nobody = documents['nobody']
    refusals = {
        'a document nobody serves': lambda: say(url, nobody, '{}'),
        'a document nobody serves, in a conversation': lambda: say(url, nobody, '{}', multiround=True),
        'a document nobody serves, by the model': lambda: do_task(url, nobody, False),
        'a document nobody serves, by a routine': lambda: do_task(url, nobody, True),
        'no source': lambda: say(url, nobody + ' ', '{}', sources=[]),
        'a source with another text': lambda: say(url, nobody + ' ', '{}', sources=[encode_as_data_uri(nobody)]),
        'a source that is gone': lambda: say(url, nobody + '  ', '{}', sources=[documents['gone']]),
        'a body the document does not allow': lambda: say(url, documents['served'], 'no JSON'),
        'an agent that fails': lambda: say(url, None, 'conform: fail'),
        'an agent that throws': lambda: say(url, None, 'conform: throw'),
        'an agent that throws, in a conversation': lambda: say(url, None, 'hello', 'conform: throw', multiround=True),
        'a conversation that is over': lambda: say_after_the_end(url),
    }
    for name, refuse in refusals.items():
        report(name, outcome(refuse))
    report('afterwards', outcome(say, url, None, 'hello'))


if __name__ == '__main__':
    converse(sys.argv[1], json.loads(sys.argv[2]))
