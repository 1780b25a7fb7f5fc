import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Envelope, isPromise, type Layer, startCall } from "../../src/envelope/index.js";
import { agent, bridge, type RemoteAgent, serve } from "../../src/index.js";
import { MessageChallenges } from "../../src/protocols/sage/message/message-challenge.js";
import { ownProof } from "../../src/protocols/sage/message/message-proof.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { freePort } from "../anp/directory.js";
import { PROTOCOLS, SageWorld, SETTINGS, UNSEALED } from "./world.js";

/** Messages through a gateway to an agent that has just started, and does not know what it accepted before. */

let world: SageWorld;
beforeEach(() => {
  world = new SageWorld();
});
afterEach(() => world.close());

/** Without memory of what was accepted before. */
const newGuard = () => createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now });

interface Scene {
  readonly ann: LocalIdentity;
  readonly middle: LocalIdentity;
  /** The DID of the agent. */
  readonly desk: string;
  /** Calls the agent through the gateway. */
  readonly peer: RemoteAgent;
  /** What the agent was told. */
  readonly heard: string[];
  /** The messages that passed the gateway. */
  readonly passed: Envelope[];
  /** Ends the agent, and starts it again. */
  restart(): Promise<void>;
}

interface SceneOptions {
  readonly mode: "relay" | "adopt";
  readonly seal: boolean;
  readonly layers?: readonly Layer[];
}

async function scene({ mode, seal, layers = [] }: SceneOptions): Promise<Scene> {
  const [ann, middle] = [await world.register(), await world.register()];
  const heard: string[] = [];
  const clerk = agent({
    name: "desk",
    description: "works on tasks",
    async *handle(message, task) {
      heard.push(message.text);
      yield task.working("busy");
      return task.complete(`done ${message.text}`);
    },
  });
  const port = await freePort();
  const identity = await world.register(`http://127.0.0.1:${port}`);
  const started = () =>
    serve(clerk, {
      ...{ protocols: PROTOCOLS, port, identity, store: world.store, replay: newGuard() },
      ...{ audit: world.log.audit, telemetry: world.log.telemetry },
      settings: { sage: { ...SETTINGS.sage, relays: middle.did } },
    });
  let server = await started();
  world.closing(() => server.close());
  const upstream = { protocols: PROTOCOLS, pin: "sage", identity: middle, settings: SETTINGS, records: world.store.records };
  const bridged = await bridge(identity.did, { ...upstream, bridge: { mode, name: "desk" } });
  world.closing(() => bridged.close());
  const passed: Envelope[] = [];
  const listening: Layer = (next) => (operation, call) => {
    if (operation.kind === "send") passed.push(operation.envelope);
    return next(operation, call);
  };
  const front = await serve(bridged, {
    ...{ protocols: PROTOCOLS, port: 0, identity: middle, store: world.store, replay: newGuard() },
    ...{ layers: [listening, ...layers], settings: { sage: { ...SETTINGS.sage, passOn: true } } },
  });
  world.closing(() => front.close());
  const settings = { sage: { ...SETTINGS.sage, peer: identity.did, gateway: middle.did, seal } };
  const peer = await world.connect(front.url, ann, { pin: "sage", resume: false, settings });
  const restart = async (): Promise<void> => {
    await server.close();
    server = await started();
  };
  return { ann, middle, desk: identity.did, peer, heard, passed, restart };
}

async function told(peer: RemoteAgent, text: string, key?: string): Promise<string> {
  const event = await peer.send(text, key === undefined ? {} : { key });
  if (event.kind !== "task") throw new Error(`expected a task, got a ${event.kind}`);
  const [part] = event.task.status.message?.content ?? [];
  expect(part?.kind === "text" && part.text).toBe(`done ${text}`);
  return event.task.id;
}

describe.each([
  ["relay", true],
  ["relay", false],
  ["adopt", true],
  ["adopt", false],
] as const)("through a gateway in %s mode (sealed: %s), an agent that has just started", (mode, seal) => {
  test("answers the first message, a stream and requests about tasks, before and after a restart", {
    timeout: 60_000,
  }, async () => {
    const { peer, heard, restart } = await scene({ mode, seal });
    await told(peer, "first");
    await restart();
    const states: string[] = [];
    for await (const event of peer.stream("second")) if (event.kind === "status") states.push(event.status.state);
    expect(states.at(-1)).toBe("completed");
    await restart();
    const id = await told(peer, "third");
    await restart();
    expect((await peer.getTask(id)).status.state).toBe("completed");
    expect(heard).toEqual(["first", "second", "third"]);
  });
});

test("through a gateway in relay mode, it answers a message with an idempotency key", { timeout: 60_000 }, async () => {
  const { peer, heard } = await scene({ mode: "relay", seal: false });
  await told(peer, "keyed", "key-1");
  expect(heard).toEqual(["keyed"]);
});

describe("what a gateway cannot do with it", { timeout: 60_000 }, () => {
  /** The gateway brings a message as it is. */
  async function brought({ desk, middle }: Scene, envelope: Envelope): Promise<unknown> {
    const attacker = await world.connect(desk, middle, { settings: UNSEALED });
    const reply = attacker.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, startCall());
    return isPromise(reply) ? reply : undefined;
  }

  test("bring a message from before the restart again: refused", async () => {
    const made = await scene({ mode: "relay", seal: false });
    await told(made.peer, "once");
    const accepted = made.passed.at(-1);
    if (accepted === undefined) throw new Error("nothing passed the gateway");
    await expect(brought(made, accepted)).rejects.toMatchObject({ code: "replayed" });
    await made.restart();
    for (const _ of [1, 2])
      await expect(brought(made, accepted)).rejects.toMatchObject({ facts: { detail: { error: "ErrReplayAttack" } } });
    expect(made.heard).toEqual(["once"]);
    expect(world.log.reasons().join()).toContain("(message.challenge)");
  });

  test("bring the handshake of a session from before the restart again: refused", async () => {
    const made = await scene({ mode: "relay", seal: true });
    await told(made.peer, "once");
    const handshake = made.passed.findLast(({ intent }) => intent === "urn:koine:sage:1:handshake");
    if (handshake === undefined) throw new Error("no handshake passed the gateway");
    await made.restart();
    await expect(brought(made, handshake)).rejects.toMatchObject({ facts: { detail: { error: "ErrReplayAttack" } } });
  });

  test("make an author sign again what the agent accepted, by a challenge of its own: the message is sent once", async () => {
    let gateway: LocalIdentity | undefined;
    const claiming: Layer = (next) => (operation, call) => {
      const reply = next(operation, call);
      const proof = operation.kind === "send" ? ownProof(operation.envelope) : undefined;
      if (!isPromise(reply) || proof === undefined || gateway === undefined) return reply;
      const challenges = new MessageChallenges({ identity: gateway, now: Date.now, newId: () => crypto.randomUUID() });
      return reply.then(async () => Promise.reject(await challenges.refusal(proof)));
    };
    const made = await scene({ mode: "relay", seal: false, layers: [claiming] });
    await told(made.peer, "before");
    gateway = made.middle;
    await expect(made.peer.ask("twice?")).rejects.toMatchObject({ facts: { detail: { error: "ErrReplayAttack" } } });
    expect(made.heard).toEqual(["before", "twice?"]);
  });
});
