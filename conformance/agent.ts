import type { Skill } from "../src/envelope/index.js";
import { CONFORMANCE_TAG } from "../src/protocols/requirement.js";
import type { AgentFunction, IncomingMessage, Progress, Result, TaskContext } from "../src/tasks/agent-function.js";

/** The skill for the card of an agent with `conformanceAgent`. */
export const conformanceSkill: Skill = {
  id: "conform",
  name: "Conformance",
  description: "Does what a conformance check asks for: task, stream, ask, wait, fail, reject, authorize, echo, throw, message",
  tags: [CONFORMANCE_TAG],
  examples: ["conform: stream 3", "conform: ask", "conform: wait"],
};

/** Longer than any check takes. */
const WAIT_MS = 30_000;
const CHUNKS = 1_000;

type Command = (message: IncomingMessage, task: TaskContext, count: number) => AsyncGenerator<Progress, Result, void>;

const COMMANDS: { readonly [word: string]: Command } = {
  async *task(_message, task) {
    yield task.working("on it");
    yield task.artifact("done", { id: "result", name: "result", last: true });
    return task.complete("finished");
  },
  async *stream(_message, task, count) {
    yield task.working("streaming");
    const total = Math.min(count, CHUNKS);
    for (let chunk = 1; chunk <= total; chunk++)
      yield task.artifact(`chunk ${chunk} `, { id: "stream", name: "stream", append: chunk > 1, last: chunk === total });
    return task.complete();
  },
  async *ask(_message, task) {
    yield task.working("thinking of a question");
    return task.ask("what is the answer?");
  },
  async *authorize(_message, task) {
    yield task.working("looking for a key");
    return task.askForAuthorization("bring a key");
  },
  async *wait(_message, task) {
    yield task.working("waiting to be cancelled");
    await cancelled(task.signal);
    return task.complete("nobody cancelled");
  },
  async *fail(_message, task) {
    yield task.working("trying");
    return task.fail("as commanded");
  },
  async *reject(_message, task) {
    yield task.working("reading");
    return task.reject("as commanded");
  },
  async *echo(message, task) {
    yield task.working("echoing");
    yield task.artifact(message.content, { id: "echo", name: "echo", last: true });
    return task.complete();
  },
  // biome-ignore lint/correctness/useYield: it fails before it could yield, which is the point
  async *throw() {
    throw new Error("inner secret: this must not leave the process");
  },
};

/** An agent that runs the commands of the checks and echoes any other text. */
export const conformanceAgent: AgentFunction = (message, task) => {
  // A later turn answers the question of the first.
  if (task.turn > 1) return afterQuestion(message, task);
  const [, word = "", count = "3"] = /^conform: (\w+)\s*(\d+)?/.exec(message.text) ?? [];
  const command = Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
  return command === undefined ? `you said: ${message.text}` : command(message, task, Number(count));
};

async function* afterQuestion(message: IncomingMessage, task: TaskContext): AsyncGenerator<Progress, Result, void> {
  yield task.working("reading the answer");
  yield task.artifact(`the answer was: ${message.text}`, { id: "result", last: true });
  return task.complete();
}

function cancelled(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, WAIT_MS);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
