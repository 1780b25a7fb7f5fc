import { describe, expect, test } from "vitest";
import { BurstSource } from "../../test/helpers/burst-source.js";
import { AgentError, type AgentEvent, type Cursor, type ReadyIterator, TAKE_READY, WHEN_READY } from "../envelope/index.js";
import { type StreamForm, streamResponse, wantsEvents, wantsEventsFor } from "./event-stream.js";
import { type Chunk, isStream } from "./exchange.js";
import { DEFAULT_LIMITS } from "./limits.js";
import { makeRequest } from "./request.js";
import { encodeSseLine } from "./sse.js";

const status = (state: "working" | "input-required", cursor: string): AgentEvent => ({
  kind: "status",
  taskId: "t",
  contextId: "c",
  status: { state, at: 0 },
  cursor: cursor as Cursor, // opaque: any text will do
});

/** Events of a handler, and whether it was notified that the reader stopped. */
class Source implements AsyncIterableIterator<AgentEvent> {
  returned = false;
  readonly #events: (AgentEvent | AgentError)[];

  constructor(...events: (AgentEvent | AgentError)[]) {
    this.#events = events;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent>> {
    const event = this.#events.shift();
    if (event instanceof AgentError) throw event;
    return event === undefined ? { done: true, value: undefined } : { done: false, value: event };
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    this.returned = true;
    return { done: true, value: undefined };
  }
}

const form: StreamForm = { event: (event) => event.kind, failure: (error) => `failed: ${error.code}\n\n` };

async function written(source: Source, how: StreamForm): Promise<readonly string[]> {
  const { body } = await streamResponse(source, how, DEFAULT_LIMITS);
  const chunks: string[] = [];
  if (isStream(body)) for await (const chunk of body) chunks.push(String(chunk));
  return chunks;
}

describe("streamResponse()", () => {
  test("writes one server-sent event per event, with its cursor", async () => {
    expect(await written(new Source(status("working", "1"), status("working", "2")), form)).toEqual([
      "id: 1\ndata: status\n\n",
      "id: 2\ndata: status\n\n",
    ]);
  });

  test("writes compact JSON in the same form, and refuses a cursor that would become another field", async () => {
    const compact: StreamForm = { ...form, encode: encodeSseLine, event: () => '{"a":1}' };
    const source = new Source(status("working", "1"), { ...status("working", ""), cursor: undefined }, status("working", "2\n:"));
    expect(await written(source, compact)).toEqual(['id: 1\ndata: {"a":1}\n\n', 'data: {"a":1}\n\n', "failed: encode\n\n"]);
  });

  test("an event encoded as several has its cursor on the last, and one encoded as none is skipped", async () => {
    const data = [["a", "b"], [], ["c"]];
    const several: StreamForm = { ...form, event: () => data.shift() ?? [] };
    const source = new Source(status("working", "1"), status("working", "2"), status("working", "3"));
    expect(await written(source, several)).toEqual(["data: a\n\nid: 1\ndata: b\n\n", "id: 3\ndata: c\n\n"]);
  });

  test("ends where the protocol ends and notifies the handler", async () => {
    const ends: StreamForm = {
      ...form,
      endsAfter: (event) => event.kind === "status" && event.status.state === "input-required",
    };
    const source = new Source(status("working", "1"), status("input-required", "2"), status("working", "3"));
    expect(await written(source, ends)).toEqual(["id: 1\ndata: status\n\n", "id: 2\ndata: status\n\n"]);
    expect(source.returned).toBe(true);
  });

  test("ends there also if further events are ready", async () => {
    const endsAfter = (event: AgentEvent): boolean => event.kind === "status" && event.status.state === "input-required";
    const states = ["working", "working", "input-required", "working"] as const;
    const source = new BurstSource(...states.map((state, index) => status(state, String(index))));
    const { body } = await streamResponse(source, { ...form, endsAfter }, DEFAULT_LIMITS);
    const chunks = (body as AsyncIterable<Chunk>)[Symbol.asyncIterator]() as ReadyIterator<Chunk>; // a stream has no other body
    expect(await chunks.next()).toEqual({ done: false, value: "id: 0\ndata: status\n\n" });
    expect([chunks[TAKE_READY]?.(), chunks[TAKE_READY]?.()]).toEqual(["id: 1\ndata: status\n\n", undefined]);
    expect(source.stopped).toBe(false);
    // The event that ends it is not lost to a wait for the next one.
    expect(chunks[WHEN_READY]?.({ ready: () => undefined })).toBe(false);
    expect(await chunks.next()).toEqual({ done: false, value: "id: 2\ndata: status\n\n" });
    expect(source.stopped).toBe(true);
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  test("an error before the first event is thrown; a later one is written last", async () => {
    const failure = new AgentError("unavailable", "away");
    await expect(streamResponse(new Source(failure), form, DEFAULT_LIMITS)).rejects.toBe(failure);
    await expect(streamResponse(new Source(), form, DEFAULT_LIMITS)).rejects.toMatchObject({ code: "internal" });
    expect(await written(new Source(status("working", "1"), failure), form)).toEqual([
      "id: 1\ndata: status\n\n",
      "failed: unavailable\n\n",
    ]);
  });

  test("headers may depend on the first event", async () => {
    const { headers } = await streamResponse(new Source(status("working", "1")), form, DEFAULT_LIMITS, (first) => ({
      "run-id": first.kind === "status" ? first.taskId : "",
    }));
    expect([headers["run-id"], headers["content-type"]]).toEqual(["t", "text/event-stream"]);
  });
});

describe("wantsEvents()", () => {
  test.each([
    ["text/event-stream", true],
    ["application/json, text/event-stream;q=0.9", true],
    ["application/json", false],
    [undefined, false],
  ])("Accept: %s", (accept, wanted) => {
    expect(wantsEvents(makeRequest({ method: "GET", url: "http://h/", headers: { accept } }))).toBe(wanted);
  });
});

describe("wantsEventsFor()", () => {
  test.each([
    ["text/event-stream", undefined, true],
    ["text/event-stream", false, true], // with one event
    [undefined, true, true],
    ["*/*", true, true],
    ["text/*;q=0.5", true, true],
    ["application/json", true, false],
    [undefined, false, false],
    ["*/*", undefined, false],
  ])("Accept: %s, stream: %s", (accept, stream, wanted) => {
    const request = makeRequest({ method: "POST", url: "http://h/", headers: { accept } });
    expect(wantsEventsFor(request, { context: { stream } })).toBe(wanted);
  });
});
