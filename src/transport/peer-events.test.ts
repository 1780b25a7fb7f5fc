import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { BurstSource } from "../../test/helpers/burst-source.js";
import { type AgentEvent, type ReadyIterator, TAKE_READY } from "../envelope/index.js";
import type { Chunk } from "./exchange.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { PeerEvents, type StreamItem } from "./peer-events.js";

/** A response of two events whose end comes when the test says so. */
class Response implements AsyncIterator<StreamItem> {
  /** How often the reader gave the connection up. */
  givenUp = 0;
  end: () => void = () => undefined;
  #next = 0;

  next(): Promise<IteratorResult<StreamItem>> {
    const item = (["working", "completed"] as const)[this.#next++];
    if (item !== undefined) return Promise.resolve({ done: false, value: { item, cursor: undefined } });
    return new Promise((resolve) => {
      this.end = () => resolve({ done: true, value: undefined });
    });
  }

  return(): Promise<IteratorResult<StreamItem>> {
    this.givenUp++;
    return Promise.resolve({ done: true, value: undefined });
  }
}

function eventsOf(items: Response): PeerEvents {
  return new PeerEvents({
    limits: DEFAULT_LIMITS,
    open: async () => ({ items }),
    read: (data) => data,
    withoutTask: "accept",
    // Only the two states of the response above.
    decode: (item): AgentEvent => ({
      kind: "status",
      taskId: "t",
      contextId: "c",
      status: { state: item as "working" | "completed", at: 0, message: undefined },
    }),
  });
}

describe("a reader that stops", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("at the last event leaves the connection to the end of its response", async () => {
    const response = new Response();
    const events = eventsOf(response);
    await events.next();
    await events.next();
    await events.return();
    expect(response.givenUp).toBe(0);
    response.end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(response.givenUp).toBe(0);
  });

  test("at the last event gives the connection up if the response does not end in time", async () => {
    const response = new Response();
    const events = eventsOf(response);
    await events.next();
    await events.next();
    await events.return();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(response.givenUp).toBe(1);
  });

  test("before the last event gives the connection up at once", async () => {
    const response = new Response();
    const events = eventsOf(response);
    await events.next();
    await events.return();
    expect(response.givenUp).toBe(1);
  });
});

describe("a stream", () => {
  /** Items are written as task, space, state. */
  const events = (items: readonly string[], withoutTask: "refuse" | "accept" | ((kind: string) => void) = "accept") =>
    new PeerEvents({
      limits: DEFAULT_LIMITS,
      open: async () => ({
        items: (async function* () {
          for (const item of items) yield { item, cursor: undefined };
        })(),
      }),
      read: (data) => data,
      withoutTask,
      decode: (item): AgentEvent => {
        const [taskId = "", state = ""] = String(item).split(" ");
        return {
          kind: "status",
          taskId,
          contextId: "c",
          status: { state: state as "working" | "completed", at: 0, message: undefined },
        };
      },
    });

  test("of another task in the middle is refused", async () => {
    const read = events(["t working", "u working"]);
    await read.next();
    await expect(read.next()).rejects.toMatchObject({ code: "bad_peer", message: expect.stringContaining("task u") });
  });

  test("that begins without its task is refused, or reported", async () => {
    await expect(events(["t working"], "refuse").next()).rejects.toMatchObject({ code: "bad_peer" });
    const reported: string[] = [];
    await events(["t working"], (kind) => reported.push(kind)).next();
    expect(reported).toEqual(["status"]);
  });

  test("that ends before its task was interrupted", async () => {
    const read = events(["t working"]);
    await read.next();
    await expect(read.next()).rejects.toMatchObject({ code: "interrupted" });
    expect(await read.next()).toEqual({ done: true, value: undefined });
  });

  test("that goes on after its end is given up", async () => {
    const read = events(["t completed", "t working"]);
    expect(await read.next()).toMatchObject({ value: { status: { state: "completed" } } });
    expect(await read.next()).toEqual({ done: true, value: undefined });
  });
});

describe("events that arrived together", () => {
  const sse = (...states: readonly string[]): string => states.map((state) => `data: "${state}"\n\n`).join("");

  /** A data of "none" decodes to no event. */
  const events = (
    ...chunks: readonly (Chunk | Error)[]
  ): { readonly source: BurstSource<Chunk>; readonly read: ReadyIterator<AgentEvent> } => {
    const source = new BurstSource<Chunk>(...chunks);
    const read = new PeerEvents({
      limits: DEFAULT_LIMITS,
      open: async () => ({ chunks: source }),
      read: (data) => data,
      withoutTask: "accept",
      decode: (item): readonly AgentEvent[] =>
        item === "none"
          ? []
          : [
              {
                kind: "status",
                taskId: "t",
                contextId: "c",
                status: { state: item as "working" | "completed", at: 0, message: undefined },
              },
            ],
    });
    return { source, read };
  };
  const stateOf = (event: AgentEvent | undefined): string | undefined =>
    event?.kind === "status" ? event.status.state : undefined;

  test("are taken without a pull each, over the borders of chunks", async () => {
    const { read } = events(sse("working", "none", "working"), 'data: "work', 'ing"\n\n', sse("completed"));
    await read.next();
    expect([1, 2, 3, 4].map(() => stateOf(read[TAKE_READY]?.()))).toEqual(["working", "working", "completed", undefined]);
    expect(await read.next()).toEqual({ done: true, value: undefined });
  });

  test("are none before the first pull, which sends the request", async () => {
    const { read } = events(sse("working", "completed"));
    expect(read[TAKE_READY]?.()).toBeUndefined();
    expect(stateOf((await read.next()).value)).toBe("working");
  });

  test("are checked as others are, and the connection is given up", async () => {
    const { source, read } = events(`${sse("working")}data: {\n\n`);
    await read.next();
    expect(() => read[TAKE_READY]?.()).toThrow(/an event of the stream is invalid/);
    expect(source.stopped).toBe(true);
    expect(await read.next()).toEqual({ done: true, value: undefined });
  });
});
