import { AgentError, artifactText, connect, ERRORS, type EventOf, type RemoteAgent } from "../../../src/index.js";
import { textOfAnswer, traitsOf } from "../../../src/internal.js";
import { type Protocol, protocols } from "../../../src/public/protocols.js";
import { createTelemetry, type Hooks } from "../../../src/public/telemetry.js";
import type { RunClock } from "../clock.js";
import { type OwnIdentity, openOwnIdentity } from "../processes/own-identity.js";
import type { ClientTask, Protection } from "../processes/tasks.js";
import type { Attempt, BenchClient, SentRequest } from "./client.js";

type Stamps = { -readonly [Key in keyof Attempt["stamps"]]: Attempt["stamps"][Key] };

/** What the hooks see of one attempt. */
interface Seen {
  readonly stamps: Stamps;
  sent: number;
  received: number;
  bodies: boolean;
}

/** The time to connect is for each agent by itself: with hundreds at once it would be that of all of them. */
const CONNECTED_AT_ONCE = 16;

/** Connects to every agent by the arm's protocol alone. */
export async function openKoineClient(task: ClientTask, now: RunClock): Promise<BenchClient> {
  const { arm, settings, targets } = task;
  const seen = new Map<string, Seen>();
  const telemetry = createTelemetry({ hooks: stampingHooks(seen, now) });
  const protocol = protocolNamed(arm.protocol);
  const options = {
    protocols: [protocol],
    ...(await identityOptions(task, protocol)),
    timeoutMs: settings.messageTimeoutMs,
    discoverMs: settings.connectTimeoutMs,
    // The caller owns all retries.
    resume: false,
    telemetry,
  };
  const peers = new Map<string, RemoteAgent>();
  for (let from = 0; from < targets.length; from += CONNECTED_AT_ONCE) {
    const next = targets.slice(from, from + CONNECTED_AT_ONCE);
    const connected = await Promise.all(next.map(({ url }) => connect(url, options)));
    for (const [index, { agent }] of next.entries()) {
      const peer = connected[index];
      if (peer !== undefined) peers.set(agent, peer);
    }
  }
  const [first] = peers.values();
  const others = new Map<string, Promise<RemoteAgent>>();
  let attempts = 0;
  const peerFor = (agent: string, module: string | undefined): Promise<RemoteAgent> | RemoteAgent | undefined => {
    const id = arm.assign?.[module ?? ""] ?? arm.protocol;
    if (id === arm.protocol) return peers.get(agent);
    const url = targets.find((target) => target.agent === agent)?.url;
    const known = others.get(`${agent} ${id}`);
    if (url === undefined || known !== undefined) return known;
    const opened = connect(url, { ...options, protocols: [protocolNamed(id)] });
    others.set(`${agent} ${id}`, opened);
    opened.catch(() => others.delete(`${agent} ${id}`));
    return opened;
  };
  return {
    protection: protectionOf(protocol, first, "identity" in options),
    limits: { connectTimeoutMs: options.discoverMs, messageTimeoutMs: options.timeoutMs },
    async send(request) {
      let peer: RemoteAgent | undefined;
      try {
        peer = await peerFor(request.agent, request.module);
      } catch (thrown) {
        return { error: errorOf(thrown), stamps: {}, streamEvents: 0 };
      }
      if (peer === undefined) throw new Error(`there is no agent ${request.agent}`);
      const traceId = traceIdOf(attempts++);
      const one: Seen = { stamps: {}, sent: 0, received: 0, bodies: false };
      seen.set(traceId, one);
      try {
        return await attempt(peer, request, { traceId, seen: one, streamed: arm.features === "full", now });
      } finally {
        seen.delete(traceId);
      }
    },
    close: async () => {
      const opened = await Promise.allSettled(others.values());
      const more = opened.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
      await Promise.all([...peers.values(), ...more].map((peer) => peer.close()));
    },
  };
}

function protocolNamed(id: string): Protocol {
  const protocol = protocols.find((each) => each.id === id);
  if (protocol === undefined) throw new Error(`there is no protocol ${id}`);
  return protocol;
}

/** A call that its identity does not sign is refused before anything is sent. */
async function identityOptions(
  { identities }: ClientTask,
  protocol: Protocol,
): Promise<(OwnIdentity & { readonly require: readonly ["signed"] }) | Record<never, never>> {
  if (identities === undefined) return {};
  return { ...(await openOwnIdentity(identities.own, identities, protocol)), require: ["signed"] };
}

/**
 * What the interface in use does with identities. Without them it neither signs nor seals. Agents are called by their address, so that a
 * seal is for whoever proved to be there: it counts for the hop.
 */
function protectionOf(protocol: Protocol, peer: RemoteAgent | undefined, identified: boolean): Protection {
  if (peer === undefined || !identified) return { signed: "none", sealed: "none", callers: "anonymous" };
  const { signed, sealed } = traitsOf(protocol, peer.version, peer.binding);
  return { signed, sealed: sealed === "none" ? "none" : "hop", callers: "did" };
}

interface AttemptContext {
  readonly traceId: string;
  readonly seen: Seen;
  readonly streamed: boolean;
  readonly now: RunClock;
}

async function attempt(peer: RemoteAgent, { seq, payload, signal }: SentRequest, context: AttemptContext): Promise<Attempt> {
  const { traceId, seen, streamed, now } = context;
  const facts = () => ({
    stamps: seen.stamps,
    ...(seen.bodies ? { bodyBytes: { sent: seen.sent, received: seen.received } } : {}),
  });
  // Parts of the trace context that carry no meaning: the number of the attempt, so that hooks can find it.
  const options = {
    traceparent: `00-${traceId}-${traceId.slice(-16)}-01`,
    ...(streamed ? { key: `bench-${seq}` } : {}),
    ...(signal === undefined ? {} : { signal }),
  };
  try {
    if (!streamed) {
      const event = await peer.send(payload, options);
      return { answer: textOfAnswer(event), done: now(), streamEvents: 0, ...facts() };
    }
    let text = "";
    let events = 0;
    for await (const event of peer.stream(payload, options)) {
      events++;
      const piece = pieceOf(event);
      if (piece !== "") seen.stamps.firstToken ??= now();
      text += piece;
    }
    return { answer: text, done: now(), streamEvents: events, ...facts() };
  } catch (thrown) {
    return { error: errorOf(thrown), streamEvents: 0, ...facts() };
  }
}

function errorOf(thrown: unknown): NonNullable<Attempt["error"]> {
  const error = AgentError.from(thrown);
  const kind = error.code === "deadline" ? "timeout" : ERRORS[error.code].again === "never" ? "final" : "transient";
  const isNetwork = ERRORS[error.code].face === "E_CONN";
  return { text: `${error.code}: ${error.message}`, kind, isNetwork };
}

/** The text that an event of a stream adds. Throws AgentError for a task that failed. */
function pieceOf(event: EventOf<"send">): string {
  if (event.kind === "artifact") return artifactText(event.artifact.parts);
  if (event.kind === "status" && event.status.state === "failed")
    throw event.status.error ?? new AgentError("internal", "the task failed");
  return event.kind === "message" || event.kind === "task" ? textOfAnswer(event) : "";
}

/** 32 hexadecimal digits, unique for an attempt of a client: several of one request may be under way. */
function traceIdOf(number: number): string {
  return `${"b".repeat(16)}${(number + 1).toString(16).padStart(16, "0")}`;
}

function stampingHooks(seen: ReadonlyMap<string, Seen>, now: RunClock): Hooks {
  const of = (traceId: string | undefined): Seen | undefined => (traceId === undefined ? undefined : seen.get(traceId));
  return {
    beforeEncode({ traceId }) {
      const one = of(traceId);
      if (one !== undefined) one.stamps.encodeStart ??= now();
    },
    afterEncode({ traceId, payload }) {
      const one = of(traceId);
      if (one === undefined) return;
      one.stamps.write ??= now();
      one.sent += payload.length;
      one.bodies = true;
    },
    afterTransport({ traceId, receivedBytes }) {
      const one = of(traceId);
      if (one === undefined) return;
      one.stamps.replyEnd = now();
      one.received += receivedBytes;
    },
  };
}
