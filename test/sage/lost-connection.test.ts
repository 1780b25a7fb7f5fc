import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EdgeProxy } from "../../bench/protocols/wire/edge-proxy.js";
import {
  type AgentEvent,
  type Cursor,
  isPromise,
  type Layer,
  type Maybe,
  SEALED_TYPE,
  startCall,
} from "../../src/envelope/index.js";
import { agent, bridge, type RemoteAgent, serve } from "../../src/index.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { freePort } from "../anp/directory.js";
import { PROTOCOLS, SageWorld, SETTINGS } from "./world.js";

/** The connection between a gateway in mode adopt and an agent is cut while a sealed task runs. */

const WORDS = ["one ", "two ", "three ", "four ", "five "] as const;

let world: SageWorld;
beforeEach(() => {
  world = new SageWorld();
});
afterEach(() => world.close());

interface Scene {
  readonly ann: LocalIdentity;
  readonly middle: LocalIdentity;
  /** Another gateway that the agent knows. */
  readonly second: LocalIdentity;
  /** The DID of the agent. */
  readonly desk: string;
  readonly peer: RemoteAgent;
  /** In front of the agent. */
  readonly proxy: EdgeProxy;
  /** Lets the agent say this many words more. */
  say(words: number): void;
  /** How often the agent was called. */
  readonly turns: { count: number };
  /** What the gateway got from the agent. */
  readonly got: AgentEvent[];
}

async function scene({ seal = true, layers = [] as readonly Layer[] } = {}): Promise<Scene> {
  const [ann, middle, second] = [await world.register(), await world.register(), await world.register()];
  const turns = { count: 0 };
  const [got, waiting]: [AgentEvent[], (() => void)[]] = [[], []];
  let allowed = 0;
  const spoken = () => (allowed-- > 0 ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve)));
  const say = (words: number): void => {
    allowed = Math.max(allowed, 0) + words;
    for (const resolve of waiting.splice(0, words)) {
      allowed--;
      resolve();
    }
  };
  const counting = agent({
    name: "desk",
    description: "counts",
    async *handle() {
      turns.count++;
      for (const word of WORDS) {
        await spoken();
        yield word;
      }
      return undefined;
    },
  });
  const proxy = new EdgeProxy(1);
  const [port, proxyPort] = [await freePort(), await proxy.listen(0)];
  proxy.target = port;
  world.closing(async () => proxy.close());
  const endpoint = `http://127.0.0.1:${proxyPort}`;
  const desk = await world.register(endpoint);
  const server = await serve(counting, {
    ...{ protocols: PROTOCOLS, port, publicUrl: endpoint, identity: desk, store: world.store },
    ...{ audit: world.log.audit, telemetry: world.log.telemetry },
    settings: { sage: { ...SETTINGS.sage, relays: `${middle.did},${second.did}` } },
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
  });
  world.closing(() => server.close());
  const upstream = { protocols: PROTOCOLS, pin: "sage", identity: middle, settings: SETTINGS, records: world.store.records };
  const listening: Layer = (next) => (operation, call) => {
    const reply = next(operation, call);
    return isPromise(reply) ? reply : heard(reply, got);
  };
  const bridged = await bridge(desk.did, { ...upstream, layers: [listening], bridge: { mode: "adopt", name: "desk" } });
  world.closing(() => bridged.close());
  const front = await serve(bridged, {
    ...{ protocols: PROTOCOLS, port: 0, identity: middle, store: world.store, layers },
    settings: { sage: { ...SETTINGS.sage, passOn: true } },
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
  });
  world.closing(() => front.close());
  const settings = { sage: { ...SETTINGS.sage, peer: desk.did, gateway: middle.did, seal } };
  const peer = await world.connect(front.url, ann, { pin: "sage", resume: false, settings });
  world.closing(async () => say(WORDS.length)); // what waits ends
  return { ann, middle, second, desk: desk.did, peer, proxy, say, turns, got };
}

async function* heard(events: AsyncIterable<AgentEvent>, got: AgentEvent[]): AsyncGenerator<AgentEvent, void, void> {
  for await (const event of events) {
    got.push(event);
    yield event;
  }
}

/** Cuts the connections with the next bytes on them, and until the gateway has tried again. */
async function cut(proxy: EdgeProxy, provoke: () => void): Promise<void> {
  const { connections } = proxy.counts;
  proxy.conditions = { loss: 1 };
  provoke();
  await expect.poll(() => proxy.counts.connections, { timeout: 20_000 }).toBeGreaterThan(connections);
  proxy.conditions = {};
}

const textIn = (event: AgentEvent): string =>
  event.kind === "artifact" ? event.artifact.parts.map((part) => (part.kind === "text" ? part.text : "")).join("") : "";

/** Every part of the contents of an event. */
const partsIn = (event: AgentEvent) => {
  if (event.kind === "artifact") return event.artifact.parts;
  if (event.kind === "status") return event.status.message?.content ?? [];
  if (event.kind !== "task") return [];
  const { artifacts, history, status } = event.task;
  return [
    ...artifacts.flatMap(({ parts }) => parts),
    ...history.flatMap(({ content }) => content),
    ...(status.message?.content ?? []),
  ];
};

/** The words that arrive, with what is done after each of them. */
async function counted(
  peer: RemoteAgent,
  after: (word: string) => Promise<void> | void,
): Promise<{ text: string; state: string }> {
  let [text, state] = ["", ""];
  for await (const event of peer.stream("count")) {
    text += textIn(event);
    if (event.kind === "status") state = event.status.state;
    if (event.kind === "artifact") await after(textIn(event));
  }
  return { text, state };
}

describe("the connection to the agent is cut", () => {
  test("once: the caller gets the whole answer, and the gateway nothing in clear", { timeout: 60_000 }, async () => {
    const { peer, proxy, say, got, turns } = await scene();
    say(1);
    const answer = await counted(peer, async (word) => {
      if (word === "one ") await cut(proxy, () => say(2));
      say(1);
    });
    expect(answer).toEqual({ text: WORDS.join(""), state: "completed" });
    expect(turns.count).toBe(1);
    const parts = got.flatMap(partsIn);
    expect(parts.length).toBeGreaterThanOrEqual(WORDS.length);
    expect(new Set(parts.map(({ mediaType }) => mediaType))).toEqual(new Set([SEALED_TYPE]));
  });

  test("again and again: the caller gets each word once", { timeout: 60_000 }, async () => {
    const { peer, proxy, say } = await scene();
    say(1);
    const answer = await counted(peer, (word) => (word === WORDS.at(-1) ? undefined : cut(proxy, () => say(1))));
    expect(answer).toEqual({ text: WORDS.join(""), state: "completed" });
  });
});

/** The first events of the agent's stream, and its task. */
async function begun(
  made: Scene,
): Promise<{ readonly cursor: Cursor; readonly taskId: string; readonly rest: Promise<unknown> }> {
  made.say(2);
  const rest = counted(made.peer, () => undefined);
  rest.catch(() => undefined);
  await expect.poll(() => made.got.filter(({ kind }) => kind === "artifact").length, { timeout: 20_000 }).toBe(2);
  const first = made.got.find((event) => event.kind === "artifact");
  const cursor: Maybe<Cursor> = first?.cursor;
  if (first?.kind !== "artifact" || cursor === undefined) throw new Error("the first event has no cursor");
  return { cursor, taskId: first.taskId, rest };
}

/** What a request in somebody's own name gets. */
async function subscribed(desk: string, identity: LocalIdentity, taskId: string, after?: Cursor): Promise<AgentEvent[]> {
  const attacker = await world.connect(desk, identity);
  const reply = attacker.handler({ kind: "task.subscribe", taskId, follow: true, ...(after && { after }) }, startCall());
  const events: AgentEvent[] = [];
  if (isPromise(reply)) return [await reply];
  for await (const event of reply) events.push(event);
  return events;
}

describe("who goes on with a stream", { timeout: 60_000 }, () => {
  const notFound = { code: "task_not_found" };

  test("the gateway that brought its message gets what is sealed for the author, and no more", async () => {
    const made = await scene();
    const { cursor, taskId, rest } = await begun(made);
    const again = subscribed(made.desk, made.middle, taskId, cursor);
    made.say(WORDS.length);
    const events = await again;
    await rest;
    expect(events.map(({ kind }) => kind)).toEqual(["task", "artifact", "artifact", "artifact", "artifact", "status"]);
    expect(events[0]).toMatchObject({ task: { artifacts: [], history: [] } });
    expect(
      events
        .slice(1)
        .flatMap(partsIn)
        .map(({ mediaType }) => mediaType),
    ).toEqual(Array(5).fill(SEALED_TYPE));
    expect(JSON.stringify(events)).not.toContain("two");
  });

  test("the gateway without a place to go on from, with one of another task, or by other operations: not found", async () => {
    const made = await scene();
    const { cursor, taskId } = await begun(made);
    const attacker = await world.connect(made.desk, made.middle);
    await expect(subscribed(made.desk, made.middle, taskId)).rejects.toMatchObject(notFound);
    await expect(subscribed(made.desk, made.middle, taskId, `1.${taskId}x` as Cursor)).rejects.toMatchObject(notFound);
    await expect(subscribed(made.desk, made.middle, `${taskId}x`, cursor)).rejects.toMatchObject(notFound);
    await expect(attacker.getTask(taskId)).rejects.toMatchObject(notFound);
    await expect(attacker.cancelTask(taskId)).rejects.toMatchObject(notFound);
    await expect(attacker.setPush(taskId, { url: "https://gateway.example/hook" })).rejects.toMatchObject(notFound);
    expect((await attacker.listTasks()).tasks).toEqual([]);
  });

  test("another gateway that the agent knows: not found", async () => {
    const made = await scene();
    const { cursor, taskId } = await begun(made);
    await expect(subscribed(made.desk, made.second, taskId, cursor)).rejects.toMatchObject(notFound);
  });

  test("the gateway, with a task whose message is signed and not sealed: not found", async () => {
    const made = await scene({ seal: false });
    const { cursor, taskId } = await begun(made);
    await expect(subscribed(made.desk, made.middle, taskId, cursor)).rejects.toMatchObject(notFound);
  });
});
