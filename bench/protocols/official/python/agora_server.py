"""The agent of the benchmark on the official receiver of Agora, agora-protocol 0.2.0, in natural language with a scripted model."""

import logging
import sys
from pathlib import Path

from lines import answer, end_with_input, read_start, show

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / 'test' / 'interop' / 'python'))

from agora_scripted import MemoryStorage, ScriptedToolformer  # noqa: E402
from agora import Receiver, ReceiverServer  # noqa: E402
from werkzeug.serving import make_server  # noqa: E402

logging.getLogger('werkzeug').setLevel(logging.ERROR)
MODEL = ScriptedToolformer({'conversation': lambda prompt, tools: lambda message, number: answer(message)})
SERVER = ReceiverServer(Receiver.make_default(MODEL, storage=MemoryStorage()))

start = read_start()
listening = make_server('127.0.0.1', start['port'], SERVER.app, threaded=True)
end_with_input()
show(port=listening.server_port)
listening.serve_forever()
