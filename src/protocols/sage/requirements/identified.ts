import {
  AgentError,
  type AgentEvent,
  type Content,
  type ErrorCode,
  isClosing,
  isPromise,
  type Maybe,
  newEnvelope,
  type Operation,
  SEALED_TYPE,
  startCall,
} from "../../../envelope/index.js";
import { wholeBody } from "../../../transport/body.js";
import type { Exchange, HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { changeRequest, makeRequest } from "../../../transport/request.js";
import { demand, show, skip } from "../../check.js";
import type { IdentifiedConnection, IdentifiedPeer, Subject } from "../../requirement.js";
import { isSageError, type SageErrorName } from "../errors.js";
import { PROTOCOL } from "../wire.js";
import type { SageRequirement } from "./probe.js";

/** What only somebody in the registry can find out: sessions, sealed answers, and refusals of what was valid once. */

const SOURCE = "docs/sage.md";
const LARGE_CHARS = 100_000;
const AT_ONCE = 10;

/** A request as it was sent, and the text of its answer. */
interface Exchanged {
  readonly request: HttpRequest;
  readonly text: string;
}

interface Caller {
  readonly peer: IdentifiedPeer;
  /** What was exchanged so far. */
  readonly seen: Exchanged[];
  send(content: Content, delivery?: "answer" | "stream"): Promise<readonly AgentEvent[]>;
  ask(operation: Operation): Promise<readonly AgentEvent[]>;
}

type Change = (request: HttpRequest) => HttpRequest;

async function withCaller(
  { caller, newId }: Subject,
  options: Pick<IdentifiedConnection, "settings"> & { readonly change?: Maybe<Change> },
  run: (caller: Caller) => Promise<void>,
): Promise<void> {
  if (caller === undefined) return skip("this run has no identity (--identity)");
  const seen: Exchanged[] = [];
  let change: Maybe<Change>;
  const send = async (final: HttpRequest, next: Exchange): Promise<HttpResponse> => {
    const sent = final.method === "POST" ? (change?.(final) ?? final) : final;
    const response = await next(sent);
    const body = await wholeBody(response.body, DEFAULT_LIMITS.bodyBytes);
    if (final.method === "POST") seen.push({ request: final, text: new TextDecoder().decode(body) });
    const { status, headers } = response;
    return { status, headers, body: isEventStream(response) ? once(body) : body };
  };
  const peer = await caller.connect({ protocol: PROTOCOL, settings: options.settings, send });
  change = options.change;
  const ids = { now: () => Date.now(), newId };
  const ask = (operation: Operation): Promise<readonly AgentEvent[]> => eventsOf(peer, operation);
  try {
    await run({
      peer,
      seen,
      ask,
      send: (content, delivery = "answer") => {
        const envelope = newEnvelope({ content, src: "conformance", dst: peer.card.name, context: {} }, ids);
        return ask({ kind: "send", envelope, delivery, task: "auto" });
      },
    });
  } finally {
    await peer.close();
  }
}

async function eventsOf({ handler }: IdentifiedPeer, operation: Operation): Promise<readonly AgentEvent[]> {
  const reply = handler(operation, startCall({}));
  if (isPromise(reply)) return [await reply];
  const events: AgentEvent[] = [];
  for await (const event of reply) events.push(event);
  return events;
}

const isEventStream = ({ headers }: HttpResponse): boolean => headers["content-type"]?.startsWith("text/event-stream") === true;

async function* once(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body;
}

/** What a reply failed with. */
async function thrownBy(reply: Promise<unknown>): Promise<AgentError> {
  const thrown: unknown = await reply.then(
    () => undefined,
    (error: unknown) => error,
  );
  demand(thrown !== undefined, "it was answered");
  return AgentError.from(thrown);
}

async function demandRefusal(reply: Promise<unknown>, name: SageErrorName): Promise<void> {
  const error = await thrownBy(reply);
  demand(isSageError(error, name), `refused with ${show(error.message)}, and not with ${name}`);
}

async function demandCode(reply: Promise<unknown>, code: ErrorCode): Promise<void> {
  const error = await thrownBy(reply);
  demand(error.code === code, `refused with ${show(error.message)}, and not as ${code}`);
}

/** The last request of a caller, sent once more as it was. */
async function sentAgain({ exchange }: Subject, { request }: Exchanged): Promise<string> {
  const response = await exchange(request);
  return new TextDecoder().decode(await wholeBody(response.body, DEFAULT_LIMITS.bodyBytes));
}

const withQuery: Change = (request) => changeRequest(request, { url: `${request.target}?x=1` });
const withOtherBody: Change = ({ method, target, headers, body, cancel }) =>
  makeRequest({ method, url: target, headers, body: Buffer.concat([body, Buffer.from(" ")]), cancel });

function refusesChanged(key: string, behaviour: string, change: Change): SageRequirement {
  return {
    ...{ key, behaviour, capability: "security", source: SOURCE },
    run: ({ subject }) => withCaller(subject, { change }, ({ send }) => demandRefusal(send("hello"), "ErrInvalidSignature")),
  };
}

export const identifiedRequirements: readonly SageRequirement[] = [
  {
    key: "caller:session",
    capability: "connectivity",
    source: SOURCE,
    behaviour: "A caller that the registry has makes a session by a handshake, and uses it for further messages.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ send, seen }) => {
        await send("hello");
        await send("hello");
        const sessions = new Set(seen.map(({ request }) => request.headers["x-sage-session"]).filter((id) => id !== undefined));
        demand(sessions.size === 1, `${sessions.size} sessions were used`);
      }),
  },
  {
    key: "caller:sealed",
    capability: "round-trip",
    source: SOURCE,
    behaviour: "A sealed message gets a sealed answer, which the caller can open.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ send, seen }) => {
        const events = await send("hello");
        demand(events.some(isClosing), `answered ${show(events.map(({ kind }) => kind))}`);
        demand(seen.at(-1)?.text.includes(SEALED_TYPE) === true, "the answer is not sealed");
      }),
  },
  {
    key: "caller:stream",
    capability: "streaming",
    source: SOURCE,
    behaviour: "The events of a stream are sealed, and the last of them says that it is the last.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ peer, send }) => {
        if (!peer.card.capabilities.streaming) skip("the card has no streaming");
        // A stream without its last record is an error of the client.
        demand((await send("hello", "stream")).some(isClosing), "the stream had no end");
      }),
  },
  {
    key: "caller:tasks",
    capability: "long-running",
    source: SOURCE,
    behaviour: "A caller lists its tasks in its session.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ ask }) => {
        const [event] = await ask({ kind: "task.list" });
        demand(event?.kind === "tasks", `answered ${show(event?.kind)}`);
      }),
  },
  {
    key: "caller:task-unknown",
    capability: "long-running",
    source: SOURCE,
    behaviour: "A task that is not the caller's is not found.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ ask }) => {
        await demandCode(ask({ kind: "task.get", taskId: subject.newId() }), "task_not_found");
      }),
  },
  {
    key: "caller:replay",
    capability: "security",
    source: SOURCE,
    behaviour: "A request that was answered is refused when it is sent again.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ send, seen }) => {
        await send("hello");
        const last = seen.at(-1);
        if (last === undefined) throw new Error("nothing was sent");
        const text = await sentAgain(subject, last);
        demand(text.includes("ErrReplayAttack"), `answered ${show(text)}`);
      }),
  },
  refusesChanged("caller:query", "A signed request with another query is refused.", withQuery),
  refusesChanged("caller:body", "A signed request with another body is refused.", withOtherBody),
  {
    key: "caller:clear",
    capability: "security",
    source: SOURCE,
    behaviour: "A caller that has used a session is refused what it does not seal.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ send }) => {
        await send("hello");
        await withCaller(subject, { settings: { seal: false } }, (clear) => demandCode(clear.send("hello"), "downgrade_refused"));
      }),
  },
  {
    key: "caller:large",
    capability: "edge-cases",
    source: SOURCE,
    behaviour: "A message of more than 64 KiB in a session is answered.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ send }) =>
        demand((await send("x".repeat(LARGE_CHARS))).some(isClosing), "it was not answered"),
      ),
  },
  {
    key: "caller:at-once",
    capability: "edge-cases",
    source: SOURCE,
    behaviour: "Ten messages at once in one session are all answered.",
    run: ({ subject }) =>
      withCaller(subject, {}, async ({ send }) => {
        const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => send("hello")));
        demand(
          answers.every((events) => events.some(isClosing)),
          "some were not answered",
        );
      }),
  },
];
