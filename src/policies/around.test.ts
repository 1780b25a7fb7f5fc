import { describe, expect, test } from "vitest";
import { AgentError, type AgentEvent, type Handler, type Operation, type Reply, startCall } from "../envelope/index.js";
import { type Around, around, type Outcome } from "./around.js";

const PING: Operation = { kind: "ping" };
const DONE: AgentEvent = { kind: "done" };
const working: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } };
const completed: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 2 } };

interface Log {
  readonly lines: string[];
  readonly outcomes: Outcome[];
}

function logged(more: Partial<Around<Log>> = {}): { readonly log: Log; readonly over: (handler: Handler) => Handler } {
  const log: Log = { lines: [], outcomes: [] };
  const layer = around<Log>({
    begin: (operation) => {
      log.lines.push(`begin ${operation.kind}`);
      return log;
    },
    event: (state, event, shape) => void state.lines.push(`${shape} ${event.kind}`),
    end: (state, outcome) => {
      state.lines.push(`end ${outcome.kind}`);
      state.outcomes.push(outcome);
    },
    ...more,
  });
  return { log, over: layer };
}

async function* many(...events: readonly AgentEvent[]): AsyncGenerator<AgentEvent> {
  yield* events;
}

function asStream(reply: Reply): AsyncIterator<AgentEvent> {
  return (reply as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // the handler of the test answers with a stream
}

async function collect(reply: Reply): Promise<readonly string[]> {
  const kinds: string[] = [];
  for await (const event of reply as AsyncIterable<AgentEvent>) kinds.push(event.kind); // as above
  return kinds;
}

describe("around, one event", () => {
  test("keeps the promise, and sees begin, event and end", async () => {
    const { log, over } = logged();
    const reply = over(async () => DONE)(PING, startCall());
    expect(reply).toBeInstanceOf(Promise);
    expect(await reply).toBe(DONE);
    expect(log.lines).toEqual(["begin ping", "one done", "end ended"]);
    expect(log.outcomes).toEqual([{ kind: "ended", shape: "one", last: DONE }]);
  });

  test("passes the failure on as it was, and reports it as AgentError", async () => {
    const { log, over } = logged();
    const thrown = new RangeError("broken");
    await expect(over(() => Promise.reject(thrown))(PING, startCall())).rejects.toBe(thrown);
    expect(log.lines).toEqual(["begin ping", "end failed"]);
    expect(log.outcomes[0]).toMatchObject({ kind: "failed", shape: "one", error: { code: "internal", cause: thrown } });
  });

  test("a handler that throws instead of answering rejects", async () => {
    const { log, over } = logged();
    const thrown = new AgentError("overloaded", "full");
    const reply = over(() => {
      throw thrown;
    })(PING, startCall());
    await expect(reply).rejects.toBe(thrown);
    expect(log.lines).toEqual(["begin ping", "end failed"]);
  });

  test("begin refuses by throwing, and nothing below is called", async () => {
    let called = 0;
    const refused = new AgentError("unavailable", "open");
    const layer = around<true>({
      begin: () => {
        throw refused;
      },
      end: () => undefined,
    });
    const reply = layer(async () => {
      called++;
      return DONE;
    })(PING, startCall());
    await expect(reply).rejects.toBe(refused);
    expect(called).toBe(0);
  });

  test("begin without state returns the reply of the inner handler itself", () => {
    const answer = Promise.resolve(DONE);
    const layer = around<true>({ begin: () => undefined, end: () => undefined });
    expect(layer(() => answer)(PING, startCall())).toBe(answer);
  });

  test("an event rejected by the layer fails the reply, and end is called once", async () => {
    const refused = new AgentError("bad_peer", "no");
    const { log, over } = logged({
      event: () => {
        throw refused;
      },
    });
    await expect(over(async () => DONE)(PING, startCall())).rejects.toBe(refused);
    expect(log.lines).toEqual(["begin ping", "end failed"]);
  });

  test("the inner handler gets the call of `under`, inside `within`", async () => {
    const steps: string[] = [];
    const { over } = logged({
      under: (_log, call) => call.derive({ agent: "other" }),
      within: (_log, run) => {
        steps.push("in");
        const result = run();
        steps.push("out");
        return result;
      },
    });
    await over(async (_operation, call) => {
      steps.push(call.agent);
      return DONE;
    })(PING, startCall({ agent: "first" }));
    expect(steps).toEqual(["in", "other", "out"]);
  });
});

describe("around, many events", () => {
  test("sees each event and one end", async () => {
    const { log, over } = logged();
    expect(await collect(over(() => many(working, completed))(PING, startCall()))).toEqual(["status", "status"]);
    expect(log.lines).toEqual(["begin ping", "many status", "many status", "end ended"]);
    expect(log.outcomes).toEqual([{ kind: "ended", shape: "many", last: completed }]);
  });

  test("an error before the first event", async () => {
    const { log, over } = logged();
    const thrown = new AgentError("unavailable", "gone");
    const handler: Handler = () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(thrown) }) });
    await expect(collect(over(handler)(PING, startCall()))).rejects.toBe(thrown);
    expect(log.lines).toEqual(["begin ping", "end failed"]);
  });

  test("an error after the first event; the stream is over then", async () => {
    const { log, over } = logged();
    const thrown = new AgentError("interrupted", "cut");
    const handler: Handler = async function* () {
      yield working;
      throw thrown;
    };
    const stream = asStream(over(handler)(PING, startCall()));
    expect(await stream.next()).toEqual({ done: false, value: working });
    await expect(stream.next()).rejects.toBe(thrown);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    await stream.return?.();
    expect(log.lines).toEqual(["begin ping", "many status", "end failed"]);
  });

  test("a reader that leaves is `stopped`, and the source runs its finally", async () => {
    let cleaned = 0;
    const { log, over } = logged();
    const handler: Handler = async function* () {
      try {
        yield working;
        yield completed;
      } finally {
        cleaned++;
      }
    };
    for await (const event of over(handler)(PING, startCall()) as AsyncIterable<AgentEvent>) {
      expect(event).toBe(working);
      break;
    }
    expect(log.outcomes).toEqual([{ kind: "stopped", shape: "many", last: working }]);
    expect(cleaned).toBe(1);
  });

  test("return() settles at once while a generator below waits for ever, and end runs once", async () => {
    const { log, over } = logged();
    const handler: Handler = async function* () {
      await new Promise(() => undefined);
      yield working;
    };
    const stream = asStream(over(handler)(PING, startCall()));
    const waiting = stream.next();
    waiting.catch(() => undefined);
    expect(await stream.return?.()).toEqual({ done: true, value: undefined });
    expect(await stream.return?.()).toEqual({ done: true, value: undefined });
    expect(log.lines).toEqual(["begin ping", "end stopped"]);
  });

  test("events after the reader left are dropped", async () => {
    let say = (_result: IteratorResult<AgentEvent>): void => undefined;
    const source: AsyncIterable<AgentEvent> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise((resolve) => (say = resolve)) }),
    };
    const { log, over } = logged();
    const stream = asStream(over(() => source)(PING, startCall()));
    const waiting = stream.next();
    await stream.return?.();
    say({ done: false, value: working });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(log.lines).toEqual(["begin ping", "end stopped"]);
  });

  test("a source that fails to stop does not disturb the reader", async () => {
    const source: AsyncIterable<AgentEvent> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: working }),
        return: () => Promise.reject(new Error("cannot stop")),
      }),
    };
    const { log, over } = logged();
    const stream = asStream(over(() => source)(PING, startCall()));
    await stream.next();
    expect(await stream.return?.()).toEqual({ done: true, value: undefined });
    expect(log.lines).toEqual(["begin ping", "many status", "end stopped"]);
  });

  test("an event the layer refuses stops the source", async () => {
    let cleaned = 0;
    const refused = new AgentError("bad_peer", "no");
    const { log, over } = logged({
      event: () => {
        throw refused;
      },
    });
    const handler: Handler = async function* () {
      try {
        yield working;
      } finally {
        cleaned++;
      }
    };
    await expect(collect(over(handler)(PING, startCall()))).rejects.toBe(refused);
    expect(log.lines).toEqual(["begin ping", "end failed"]);
    expect(cleaned).toBe(1);
  });

  test("an error thrown by end after a successful end fails the stream", async () => {
    const cut = new AgentError("interrupted", "cut");
    const { over } = logged({
      end: () => {
        throw cut;
      },
    });
    await expect(collect(over(() => many(working))(PING, startCall()))).rejects.toBe(cut);
  });

  test("each pull runs inside `within`", async () => {
    let pulls = 0;
    const { over } = logged({
      within: (_log, run) => {
        pulls++;
        return run();
      },
    });
    await collect(over(() => many(working, completed))(PING, startCall()));
    expect(pulls).toBe(4); // the handler, two events, the end
  });
});
