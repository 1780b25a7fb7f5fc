import {
  AgentError,
  type AgentEvent,
  type Call,
  type ErrorCode,
  type Handler,
  isObject,
  type OperationOf,
  type Reply,
} from "../../envelope/index.js";
import { encodeSegment } from "../../transport/address-parts.js";
import { isEventStream } from "../../transport/body.js";
import { type Chunk, type HttpResponse, isStream, type Link } from "../../transport/exchange.js";
import { blame, readArray, readObject } from "../../transport/fields.js";
import { DEFAULT_LIMITS } from "../../transport/limits.js";
import { badPeer } from "../../transport/peer-answer.js";
import { PeerEvents, type Source } from "../../transport/peer-events.js";
import type { IdSource, Peer } from "../protocol.js";
import { agentAddress, agentUrl } from "./client/address.js";
import { answerIn, ask, checkStatus, EVENTS, type Question, requestFor } from "./client/ask.js";
import { fetchManifest } from "./client/fetch-manifest.js";
import { PolledLog, seenAt } from "./client/polled-log.js";
import { SessionNames } from "./client/session-names.js";
import { type CodecFacts, decodeAnswer, decodeRun, encodeResume, encodeRunRequest, RunEventReader } from "./codec.js";
import { errorFromWire } from "./errors.js";

type Send = OperationOf<"send">;
type Subscribe = OperationOf<"task.subscribe">;

/** The client side: encodes operations as requests, decodes runs as tasks. Never retries; a log that cannot be streamed is polled. */
export function connect(link: Link, peer: Peer, ids: IdSource): Handler {
  if (peer.binding !== "REST")
    throw new AgentError("unsupported", `the binding ${peer.binding} is not spoken here`, { sent: "no" });
  const { base, agentName = peer.card.name } = agentAddress(peer.url);
  const keepsKeys = peer.card.capabilities.idempotentSend;
  const wire: Wire = { link, ids, base, agentName, keepsKeys, sessions: new SessionNames() };
  return function callPeer(operation, call): Reply {
    switch (operation.kind) {
      case "send":
        return send(wire, operation, call);
      case "task.get":
        return oneRun(wire, { method: "GET", url: runUrl(wire, operation.taskId), meant: OF_A_RUN }, call, operation);
      case "task.cancel":
        return oneRun(
          wire,
          { method: "POST", url: `${runUrl(wire, operation.taskId)}/cancel`, meant: OF_A_CANCEL },
          call,
          operation,
        );
      case "task.subscribe":
        return operation.follow ? follow(wire, operation, call) : wholeLog(wire, operation, call);
      case "card":
        return operation.extended ? refused("card_not_configured", "no extended card") : card(wire, call);
      case "ping":
        return ping(wire, call);
      case "task.list":
        return refused("unsupported_method", "no list of runs");
      case "session.close":
        return refused("unsupported_method", "no way to close a session");
      case "push.set":
      case "push.get":
      case "push.list":
      case "push.delete":
        return refused("push_unsupported", "no push notifications");
      default:
        return operation satisfies never;
    }
  };
}

interface Wire {
  readonly link: Link;
  readonly ids: IdSource;
  readonly base: string;
  readonly agentName: string;
  /** The peer supports idempotency keys. */
  readonly keepsKeys: boolean;
  readonly sessions: SessionNames;
}

type Meant = ReadonlyMap<number, ErrorCode>;
/** Without a body, all that a server can find wrong is the id: no run has one that is no UUID. */
const OF_A_RUN: Meant = new Map<number, ErrorCode>([
  [404, "task_not_found"],
  [422, "task_not_found"],
]);
/** The SDK server answers both with 403 and the code `server_error`. */
const OF_A_CANCEL: Meant = new Map<number, ErrorCode>([...OF_A_RUN, [403, "not_cancelable"]]);
const OF_A_RESUME: Meant = new Map<number, ErrorCode>([
  [404, "task_not_found"],
  [403, "task_closed"],
]);

function refused(code: ErrorCode, lacks: string): Promise<never> {
  return Promise.reject(new AgentError(code, `BeeAI ACP has ${lacks}`, { sent: "no" }));
}

function runUrl({ base }: Wire, taskId: string): string {
  if (taskId === "") throw new AgentError("invalid_message", "the task's id is missing", { field: "taskId", sent: "no" });
  return `${base}/runs/${encodeSegment(taskId, "taskId")}`;
}

/** A message to a task goes on with its run; any other starts one. */
function send(wire: Wire, operation: Send, call: Call): Reply {
  if (operation.after !== undefined)
    throw new AgentError("unsupported", "a stream is taken up by its task, not by sending its message again", { sent: "no" });
  const question = questionOf(wire, operation, call);
  if (operation.delivery !== "stream") return oneRun(wire, question, call, operation);
  return events(wire, { ...question, accept: EVENTS }, call, operation);
}

function questionOf(wire: Wire, operation: Send, call: Call): Question {
  const lose = call.reportLoss.bind(call);
  const { taskId, sessionId, idempotencyKey } = operation.envelope.context;
  if (idempotencyKey !== undefined && !wire.keepsKeys)
    lose({
      protocol: "acp",
      path: "context.idempotencyKey",
      valueKind: "string",
      reason: "this peer does not say that it keeps to keys",
    });
  if (taskId !== undefined) {
    const { body, headers } = encodeResume(operation, taskId, lose);
    return { method: "POST", url: runUrl(wire, taskId), body, headers, meant: OF_A_RESUME };
  }
  const session = wire.sessions.uuidFor(call.caller.owner, sessionId, lose);
  const { body, headers } = encodeRunRequest(operation, wire.agentName, session, lose);
  return { method: "POST", url: `${wire.base}/runs`, body, headers };
}

async function oneRun(
  wire: Wire,
  question: Question,
  call: Call,
  operation: Send | OperationOf<"task.get" | "task.cancel">,
): Promise<AgentEvent> {
  const run = await ask(wire.link, question, call);
  const send = operation.kind === "send" ? operation : undefined;
  const facts = factsFor(wire, call, run, send);
  const event = decoded(
    (): AgentEvent => (send === undefined ? { kind: "task", task: decodeRun(run, facts) } : decodeAnswer(run, facts)),
  );
  const asked = operation.kind === "send" ? operation.envelope.context.taskId : operation.taskId;
  if (event.kind === "task" && asked !== undefined && event.task.id.toLowerCase() !== asked.toLowerCase())
    throw new AgentError("bad_peer", "asked for one run, the server shows another");
  return event;
}

function factsFor({ ids, agentName, sessions }: Wire, call: Call, run: unknown, operation?: Send): CodecFacts {
  const session = isObject(run) ? run["session_id"] : undefined;
  return {
    now: ids.now(),
    newId: () => ids.newId(),
    src: agentName,
    dst: call.caller.id,
    partsPerMessage: DEFAULT_LIMITS.partsPerMessage,
    lose: (loss) => call.reportLoss(loss),
    contextId: operation?.envelope.context.sessionId ?? sessions.nameOf(call.caller.owner, session),
    parentId: operation?.envelope.id,
  };
}

/** Reads a stream of events. A peer may answer with the complete run instead. */
function events(wire: Wire, question: Question, call: Call, operation: Send): AsyncIterable<AgentEvent> {
  return peerEvents(readerFor(wire, call, operation), async () => {
    const response = await wire.link.exchange(requestFor(question, call));
    if (response.status < 300 && isEventStream(response.headers["content-type"])) return { chunks: chunksOf(response) };
    const run = answerIn(response, question);
    return { single: { type: "run.created", run } };
  });
}

type ReadItem = (item: unknown) => readonly AgentEvent[];

function peerEvents(read: ReadItem, open: () => Promise<Source>, taskFirst = true): PeerEvents {
  return new PeerEvents({ open, read: unlessError, taskFirst, decode: (item) => decoded(() => read(item)) });
}

/** One run's events. Its session is known by the first of them. */
function readerFor(wire: Wire, call: Call, operation: Send | Subscribe): ReadItem {
  let reader: RunEventReader | undefined;
  return (item) => {
    const run = isObject(item) ? item["run"] : undefined;
    reader ??= new RunEventReader(factsFor(wire, call, run, operation.kind === "send" ? operation : undefined));
    return reader.read(item);
  };
}

function unlessError(item: unknown): unknown {
  if (isObject(item) && item["type"] === "error") throw errorFromWire(item["error"]);
  return item;
}

/** Koine servers can resume a stream at a cursor; from others the whole log is read until the run has ended. */
function follow(wire: Wire, operation: Subscribe, call: Call): AsyncIterable<AgentEvent> {
  const question = logQuestion(wire, operation, EVENTS);
  const read = readerFor(wire, call, operation);
  const seen = seenAt(operation.after);
  const open = async (): Promise<Source> => {
    const response = await wire.link.exchange(requestFor(question, call));
    checkStatus(response, question.meant);
    if (isEventStream(response.headers["content-type"])) return { chunks: chunksOf(response) };
    const again = { ...question, accept: "application/json" };
    const first = eventsIn(answerIn(response, question));
    // What its reader has had is read, so that what follows makes sense.
    for (const item of first.slice(0, seen ?? 0)) decoded(() => read(item));
    const now = (): number => wire.ids.now();
    return {
      items: new PolledLog({ first, seen: seen ?? 0, read: async () => eventsIn(await ask(wire.link, again, call)), call, now }),
    };
  };
  return peerEvents(read, open, seen === undefined);
}

/** The log after a cursor. Earlier events are decoded for their state, but not emitted. */
async function* wholeLog(wire: Wire, operation: Subscribe, call: Call): AsyncGenerator<AgentEvent, void, void> {
  const log = eventsIn(await ask(wire.link, logQuestion(wire, operation, "application/json"), call));
  const read = readerFor(wire, call, operation);
  const seen = seenAt(operation.after) ?? 0;
  for (const [index, item] of log.entries()) {
    const told = decoded(() => read(item));
    if (index >= seen) yield* told;
  }
}

function logQuestion(wire: Wire, { taskId, after }: Subscribe, accept: string): Question {
  const headers = after === undefined || seenAt(after) !== undefined ? undefined : { "last-event-id": after };
  return { method: "GET", url: `${runUrl(wire, taskId)}/events`, accept, headers, meant: OF_A_RUN };
}

function eventsIn(body: unknown): readonly unknown[] {
  return decoded(() => readArray(readObject(body, "body").events, "events", (item) => item));
}

function decoded<T>(decode: () => T): T {
  try {
    return decode();
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

/** A response that is already complete has one chunk. */
async function* once(body: Chunk): AsyncGenerator<Chunk, void, void> {
  yield body;
}

function chunksOf({ body }: HttpResponse): AsyncIterator<Chunk> {
  return isStream(body) ? body[Symbol.asyncIterator]() : once(body ?? "");
}

async function card({ link, base, agentName }: Wire, call: Call): Promise<AgentEvent> {
  const { card: found } = await fetchManifest(link, agentUrl(base, agentName), call);
  return { kind: "card", card: found };
}

/** The server answers, and it still has this agent. */
async function ping({ link, base, agentName }: Wire, call: Call): Promise<AgentEvent> {
  const response = await link.exchange(requestFor({ method: "GET", url: `${base}/ping` }, call));
  answerIn(response, {});
  const { card: found } = await fetchManifest(link, agentUrl(base, agentName), call);
  if (found.name !== agentName) throw badPeer(response, `asked for the agent ${agentName}, the server shows ${found.name}`);
  return { kind: "done" };
}
