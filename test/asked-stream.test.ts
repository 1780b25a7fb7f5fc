import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { agent, connect, DiscoveryCache, type EventOf, type RemoteAgent, type Server, serve } from "../src/index.js";

/** `stream` of a message decides how it is answered, over every interface and by the plain messages of the seeds. */

const PIECES = ["one ", "two ", "three"];
/** Keeps the agent from going on after its first piece. */
let held = gate();
function gate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
const happened: string[] = [];
const inPieces = agent({
  name: "in-pieces",
  description: "answers in pieces",
  async *handle({ text }, task) {
    yield task.working("on it");
    const [first = "", ...rest] = PIECES;
    yield first;
    if (text === "hold") await held.opened;
    happened.push("last piece");
    yield* rest;
    return undefined;
  },
});

let server: Server;
let pins: readonly string[] = [];
const open: RemoteAgent[] = [];
const connected = async (pin?: string): Promise<RemoteAgent> => {
  const peer = await connect(server.url, { discoveryCache: new DiscoveryCache(), ...(pin === undefined ? {} : { pin }) });
  open.push(peer);
  return peer;
};
beforeAll(async () => {
  server = await serve(inPieces);
  pins = (await connected()).interfaces.map(({ protocol, version, binding }) => `${protocol}@${version}/${binding}`);
});
afterAll(async () => {
  for (const peer of open) await peer.close();
  await server.close();
});

/** Until the agent goes on, a whole other call is answered: a piece that is streamed has then arrived. */
async function eventsOf(pin: string, stream?: boolean): Promise<readonly EventOf<"send">[]> {
  const peer = await connected(pin);
  held = gate();
  const events: EventOf<"send">[] = [];
  const read = async (): Promise<void> => {
    for await (const event of peer.stream("hold", stream === undefined ? {} : { stream })) {
      events.push(event);
      if (event.kind !== "status" && textOf(event) !== "") happened.push("read");
    }
  };
  const reading = read();
  const hasPiece = (): boolean => events.some((event) => textOf(event) !== "");
  await (await connected(pin)).ask("go");
  if (stream !== false) await vi.waitFor(() => expect(hasPiece()).toBe(true), 15_000);
  happened.length = 0;
  if (hasPiece()) happened.push("read");
  held.open();
  await reading;
  return events;
}

const piecesIn = (events: readonly EventOf<"send">[]): number => events.filter(({ kind }) => kind === "artifact").length;
/** Streams where the operation has one. */
const STREAMING = ["a2a@1.0/JSONRPC", "a2a@1.0/HTTP+JSON", "a2a@1.0/GRPC", "a2a@0.3/JSONRPC", "acp@0.2/REST", "anp@1.2/JSONRPC"];

describe.each(STREAMING)("over %s", (pin) => {
  test("a streaming call gets the pieces as they come", async () => {
    expect(pins).toContain(pin);
    const events = await eventsOf(pin);
    expect(piecesIn(events)).toBeGreaterThanOrEqual(PIECES.length);
    expect(happened.slice(0, 2)).toEqual(["read", "last piece"]);
  });

  test("one that asks for no stream gets one whole answer", async () => {
    const events = await eventsOf(pin, false);
    expect(events.map(textOf).join("")).toBe(PIECES.join(""));
    expect(happened.slice(0, 2)).toEqual(["last piece", "read"]);
    // ACP has events for the start of a run, and for each part of a whole answer.
    if (!pin.startsWith("acp")) expect(events).toHaveLength(1);
  });
});

function textOf(event: EventOf<"send">): string {
  const parts =
    event.kind === "task"
      ? event.task.artifacts.flatMap((artifact) => artifact.parts)
      : event.kind === "artifact"
        ? event.artifact.parts
        : [];
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

interface Answered {
  readonly type: string | null;
  readonly items: number;
}

async function posted(path: string, body: object, accept?: string): Promise<Answered> {
  const headers = { "content-type": "application/json", ...(accept === undefined ? {} : { accept }) };
  const response = await fetch(`${server.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  const type = response.headers.get("content-type");
  const text = await response.text();
  return { type, items: type === "text/event-stream" ? (text.match(/^data:/gm) ?? []).length : 1 };
}

describe("the plain messages of the seeds", () => {
  const a2a = (stream?: boolean) => ({ id: crypto.randomUUID(), params: { message: { text: "go" }, context: { stream } } });
  const acp = (stream?: boolean) => ({ id: crypto.randomUUID(), type: "request", payload: { text: "go" }, context: { stream } });

  test.each([
    ["/message", a2a],
    ["/acp/message", acp],
  ] as const)("%s", async (path, request) => {
    expect(await posted(path, request())).toMatchObject({ type: expect.stringContaining("application/json") });
    const asked = await posted(path, request(true));
    expect(asked.type).toBe("text/event-stream");
    expect(asked.items).toBeGreaterThanOrEqual(PIECES.length);
    const accepted = await posted(path, request(), "text/event-stream");
    expect(accepted).toEqual(asked);
    const whole = await posted(path, request(false), "text/event-stream");
    expect(whole.items).toBeLessThan(PIECES.length);
    expect(await posted(path, request(false))).toMatchObject({ type: expect.stringContaining("application/json") });
  });

  test("a message that wants a stream gets none where Accept rules it out", async () => {
    const answered = await posted("/message", a2a(true), "application/json");
    expect(answered.type).toContain("application/json");
  });
});
