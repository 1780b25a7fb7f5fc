import {
  type AgentEvent,
  type Card,
  createMemoryStore,
  type Envelope,
  type Handler,
  type Operation,
} from "../../../src/index.js";
import {
  createClientContext,
  createHost,
  type IdSource,
  type Link,
  type Peer,
  type Protocol,
  type Served,
  startCall,
} from "../../../src/public/protocols.js";
import { prose, type Scene, SIZES, type Work } from "./workload.js";

type Exchange = Link["exchange"];
type Request = Parameters<Exchange>[0];
type Response = Awaited<ReturnType<Exchange>>;

type Calls = { readonly [work in Work]?: () => unknown };

/** A protocol without a socket. */
export interface Plugged<All extends Calls = Calls> {
  /** Unmeasured preparation for a number of calls: a server half reads each request once. */
  prepare(work: Work, calls: number): Promise<void>;
  /** One call per kind of work; its result is awaited. A protocol without its own codec has no such work. */
  readonly work: All;
  /** Messages that have reached the handler behind the server half. */
  arrived(): number;
}

const PUBLIC_URL = "http://bench.example";
const SESSION_ID = "7a3c0b52-5d61-4f0e-9b7a-0d6f2c1e8a02";
/** Whatever a protocol remembers of a message must not run into a limit while it is measured. */
const ROOM = { keptRecords: 100_000_000 };
const IDS: IdSource = { now: Date.now, newId: () => crypto.randomUUID() };
/** For the client half alone, which gets the same answer each time: it must match the request. */
const SAME_IDS: IdSource = { now: Date.now, newId: () => "00000000-0000-4000-8000-000000000009" };

/** Event loop ticks a half may take to produce its output. */
const TURNS_TO_COME_OUT = 100;

/** One agent as a caller has it. */
interface Known {
  /** Its output is kept for the server half. */
  readonly writes: Handler;
  readonly oneWay: Handler;
  readonly client: Handler;
  readonly roundTrip: Handler;
}

/** The codec alone, of a protocol whose halves need identities. */
export function plugCodec(protocol: Protocol, { size, agents }: Scene): Plugged {
  const made = codecWork(protocol, cardsOf(agents), SIZES[size]);
  if (made === undefined) throw new Error(`${protocol.id} has no codec of its own`);
  const { text, codec } = made;
  return {
    arrived: () => 0,
    prepare: async () => undefined,
    work: { json: () => JSON.stringify(JSON.parse(text)), codec },
  };
}

type BothHalves = Readonly<Record<Exclude<Work, "codec">, () => unknown>> & Pick<Calls, "codec">;

/** Any protocol, its client half plugged into its server half, and each half for itself. */
export async function plug(protocol: Protocol, { size, agents }: Scene): Promise<Plugged<BothHalves>> {
  const cards = cardsOf(agents);
  const frame = await say(protocol, cards.slice(0, 1), 1);
  const length = Math.max(1, SIZES[size] - frame.requestBytes.length + 1);
  const { known, written, requestBytes, answerBytes, operation, answering, arrived } = await say(protocol, cards, length);
  const next = inTurn(known);
  const { text, codec } = codecWork(protocol, cards, SIZES[size]) ?? { text: requestBytes.toString(), codec: undefined };
  return {
    arrived,
    async prepare(work, calls) {
      if (work !== "server") return;
      written.length = 0;
      for (let call = 0; call < calls; call++) void next().writes(operation, startCall());
      await until(() => written.length >= calls);
    },
    work: {
      json: () => JSON.stringify(JSON.parse(text)),
      ...(codec && { codec }),
      "json bytes": () => throughJson(requestBytes),
      "json both": () => [throughJson(requestBytes), throughJson(answerBytes)],
      // Never answers: abandoned requests cost nothing.
      "one way": () => void next().oneWay(operation, startCall()),
      client: () => next().client(operation, startCall()),
      server: () => answering(written.pop() ?? unprepared()),
      "round trip": () => next().roundTrip(operation, startCall()),
    },
  };
}

function cardsOf(agents: number): readonly Card[] {
  return Array.from({ length: agents }, (_, index) => cardOf(`agent-${String(index).padStart(4, "0")}`));
}

/** One after the other, and again from the first. */
function inTurn<T>(all: readonly T[]): () => T {
  let turn = 0;
  return () => {
    turn = turn + 1 < all.length ? turn + 1 : 0;
    // Never empty, and `turn` is within.
    return all[turn] as T;
  };
}

/** The codec alone, on a message of this length to each of these agents, and such a text. */
function codecWork({ codec }: Protocol, cards: readonly Card[], size: number) {
  if (codec === undefined) return undefined;
  const sending = (length: number, { name }: Card): Extract<Operation, { kind: "send" }> => ({
    kind: "send",
    envelope: { ...message(prose(length), "user"), dst: name },
    delivery: "answer",
    task: "auto",
  });
  // Never empty.
  const first = cards[0] as Card;
  // A text may be on the wire more than once, and in base64.
  const [frame, filled] = [1, 1 + size].map((length) => codec.write(sending(length, first)).length) as [number, number];
  const length = Math.max(1, Math.floor((size - frame) / ((filled - frame) / size)) + 1);
  const next = inTurn(cards.map((card) => sending(length, card)));
  return { text: codec.write(sending(length, first)), codec: () => codec.read(codec.write(next())) };
}

/** Calls every agent of a host once with a text of this length, and keeps the bytes of the wire. */
async function say(protocol: Protocol, cards: readonly Card[], length: number) {
  const text = prose(length);
  const answer: AgentEvent = { kind: "message", message: message(text, "agent") };
  const operation: Operation = { kind: "send", envelope: message(text, "user"), delivery: "answer", task: "auto" };
  let count = 0;
  const served = servedBy(protocol, cards, async () => answer);
  const silent = servedBy(protocol, cards, () => {
    count += 1;
    return never();
  });
  const known: Known[] = [];
  const written: Request[] = [];
  const keep = (request: Request) => {
    written.push(request);
    return never();
  };
  let bytes = { requestBytes: Buffer.alloc(0), answerBytes: Buffer.alloc(0) };
  for (const card of cards) {
    const captured = await capture(protocol, card, served, operation);
    bytes = captured;
    const { peer, response } = captured;
    known.push({
      writes: clientOf(protocol, peer, keep),
      oneWay: clientOf(protocol, peer, silent.exchange),
      client: clientOf(protocol, peer, () => response, SAME_IDS),
      roundTrip: clientOf(protocol, peer, served.exchange),
    });
  }
  return { known, written, ...bytes, operation, answering: served.exchange, arrived: () => count };
}

function clientOf(protocol: Protocol, peer: Peer, exchange: Exchange, ids = IDS): Handler {
  return protocol.connect({ ...createClientContext({ link: linkTo(exchange), ids }), peer }).handler;
}

function servedBy(protocol: Protocol, cards: readonly Card[], handler: Handler): Served {
  const { records } = createMemoryStore({ now: IDS.now, limits: ROOM });
  return protocol.serve(createHost({ handler, cards, ids: IDS, publicUrl: PUBLIC_URL, records }));
}

/** One real call over the first JSON interface, with its request and response. */
async function capture(protocol: Protocol, card: Card, served: Served, operation: Operation) {
  for (const { url, version, binding, tenant } of served.interfaces(card.name, PUBLIC_URL)) {
    const peer: Peer = { url, card, version, binding, tenant };
    let seen: { readonly request: Request; readonly response: Response } | undefined;
    const exchange: Exchange = async (request) => {
      const response = await overSocket(served.exchange(request));
      seen = { request, response };
      return response;
    };
    await clientOf(protocol, peer, exchange, SAME_IDS)(operation, startCall());
    const answerBytes = seen?.response.body;
    if (seen === undefined || !(answerBytes instanceof Buffer)) continue;
    const requestBytes = Buffer.from(seen.request.body);
    if (isJson(requestBytes) && isJson(answerBytes)) return { peer, ...seen, requestBytes, answerBytes };
  }
  throw new Error(`${protocol.id} has no binding in JSON that answers a message at once`);
}

function linkTo(exchange: Exchange): Link {
  return { exchange, close: async () => undefined };
}

/** A socket would have made bytes of a text. */
async function overSocket(answered: Response | Promise<Response>): Promise<Response> {
  const response = await answered;
  return typeof response.body === "string" ? { ...response, body: Buffer.from(response.body) } : response;
}

function throughJson(bytes: Buffer): Buffer {
  return Buffer.from(JSON.stringify(JSON.parse(bytes.toString())));
}

/** New each time: a shared one would accumulate listeners. */
function never(): Promise<never> {
  return new Promise(() => undefined);
}

function unprepared(): never {
  throw new Error("no request is left: prepare first");
}

/** Throws if the condition is not reached. */
export async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; !isSo(); turn++) {
    if (turn >= TURNS_TO_COME_OUT) throw new Error("a message was lost inside a half");
    await nextTurn();
  }
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}

function message(text: string, role: Envelope["role"]): Envelope {
  return {
    id: crypto.randomUUID(),
    ts: Math.floor(IDS.now() / 1000),
    src: "caller",
    dst: "agent",
    intent: "",
    role,
    content: [{ kind: "text", text }],
    context: role === "agent" ? { sessionId: SESSION_ID } : {},
    meta: {},
  };
}

function cardOf(name: string): Card {
  return {
    name,
    description: "Echoes",
    version: "1.0.0",
    skills: [{ id: "echo", name: "Echo", description: "Says it again", tags: [] }],
    inputModes: ["text/plain"],
    outputModes: ["text/plain"],
    capabilities: { streaming: true, push: false, extended: false, idempotentSend: true, resume: false, extensions: [] },
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
  };
}
