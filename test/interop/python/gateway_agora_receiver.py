"""The Receiver of agora-protocol, with an agent that understands in words what all others do on command.

Prints its port on the first line, and stops when its standard input ends.
"""

import sys

sys.dont_write_bytecode = True

import re  # noqa: E402
import time  # noqa: E402

import agora_receiver  # noqa: E402

# Longer than any test waits for a cancel, and short enough for the end of the process.
WAIT_SECONDS = 20

SAID = {'task': 'done', 'stream': 'chunk 1 chunk 2 chunk 3 ', 'ask': 'what is the answer?'}


def converse(prompt, tools):
    """One conversation: who was asked a question takes the next message for its answer."""
    asked = []

    def answer(message, _number):
        if asked:
            asked.clear()
            return f'the answer was: {message}'
        word, _ = (re.match(r'conform: (\w+)\s*(\d*)', message) or re.match('()()', '')).groups()
        if word == 'fail':
            raise RuntimeError('as commanded')
        if word == 'wait':
            time.sleep(WAIT_SECONDS)
        if word == 'ask':
            asked.append(message)
        return SAID.get(word, f'you said: {message}')

    return answer


agora_receiver.MODEL.scripts['conversation'] = converse
agora_receiver.main()
