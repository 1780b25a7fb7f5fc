import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AgentEvent, type Envelope, isClosing, isPromise, type Layer, type Part } from "../../src/envelope/index.js";
import { agent, type Bridge, bridge, type RemoteAgent, serve } from "../../src/index.js";
import { a2a } from "../../src/protocols/a2a/index.js";
import { acp } from "../../src/protocols/acp/index.js";
import { type SealedBy, withSealedBy } from "../../src/protocols/sage/message/security.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { freePort } from "../anp/directory.js";
import { PROTOCOLS, SageWorld, SETTINGS, sage } from "./world.js";

/** A gateway between two agents that sign: it signs its own hops, and passes on what the agents signed for each other. */

let world: SageWorld;
const closing: (() => Promise<unknown>)[] = [];
beforeEach(() => {
  world = new SageWorld();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
  await world.close();
});

const signer = agent({
  name: "desk",
  description: "says who signed the message",
  handle: (message) => `${message.proofs?.map((proof) => proof.signer).join() ?? "nobody"}: ${message.text}`,
});

const echo = agent({ name: "desk", description: "repeats", handle: (message) => message.text });

interface Gateway {
  /** The contents that the gateway handled. */
  readonly seen: unknown[];
  readonly url: string;
  readonly identity: LocalIdentity;
}

interface GatewayOptions {
  readonly upstream: string;
  readonly pin: string;
  readonly mode: "adopt" | "relay";
  readonly identity: LocalIdentity;
  readonly layers?: readonly Layer[];
}

const gateway = (upstream: string, pin: string, mode: "adopt" | "relay", identity: LocalIdentity): Promise<Gateway> =>
  gatewayWith({ upstream, pin, mode, identity });

/** A gateway under its own DID in front of `upstream`. */
async function gatewayWith({ upstream, pin, mode, identity, layers = [] }: GatewayOptions): Promise<Gateway> {
  const port = await freePort();
  const protocols = [...PROTOCOLS, acp];
  const bridged: Bridge = await bridge(upstream, {
    ...{ protocols, pin, identity, settings: SETTINGS },
    records: world.store.records,
    bridge: { mode, name: "desk" },
    // Plain HTTP proves nobody's identity: what arrives is verified by its signature alone.
    ...(pin === "sage" ? {} : { openings: [{ lowers: ["identity"], reason: "one machine", until: "2999-01-01" }] }),
  });
  const seen: unknown[] = [];
  const server = await serve(bridged, {
    layers: [
      (next) => (operation, call) => {
        if (operation.kind === "send") seen.push(operation.envelope.content);
        return next(operation, call);
      },
      ...layers,
    ],
    ...{ protocols, port, identity, store: world.store },
    settings: { sage: { ...SETTINGS.sage, passOn: true } },
  });
  closing.push(
    () => bridged.close(),
    () => server.close(),
  );
  return { url: `http://127.0.0.1:${port}`, identity, seen };
}

/** A client that calls the agent through the gateway. */
async function through(front: Gateway, agentDid: string, ann: LocalIdentity, seal = false) {
  const settings = { sage: { ...SETTINGS.sage, peer: agentDid, gateway: front.identity.did, seal } };
  return world.connect(front.url, ann, { pin: "sage", resume: false, settings });
}

describe.each(["relay", "adopt"] as const)("through a gateway in %s mode", (mode) => {
  test("by SAGE on both sides, the agents verify each other", async () => {
    const [ann, middle] = [await world.register(), await world.register()];
    const settings = { sage: { ...SETTINGS.sage, relays: middle.did } };
    const desk = await world.serve(signer, { settings });
    const front = await gateway(desk.identity.did, "sage", mode, middle);
    const peer = await through(front, desk.identity.did, ann);
    expect(await peer.ask("hello")).toBe(`${ann.did}: hello`);
    expect(await peer.send("again")).toMatchObject({ message: { proofs: [{ signer: desk.identity.did }] } });
  });

  test("what they seal is opened by the agent, and not by the gateway", async () => {
    const [ann, middle] = [await world.register(), await world.register()];
    const settings = { sage: { ...SETTINGS.sage, relays: middle.did } };
    const desk = await world.serve(echo, { settings });
    const front = await gateway(desk.identity.did, "sage", mode, middle);
    const peer = await through(front, desk.identity.did, ann, true);
    expect(await peer.ask("secret")).toBe("secret");
    expect(front.seen.length).toBeGreaterThan(0);
    expect(JSON.stringify(front.seen)).not.toContain("secret");
  });

  test("that is called itself, its card names it and not the agent behind it", async () => {
    const [ann, middle] = [await world.register(), await world.register()];
    const desk = await world.serve(echo);
    const front = await gateway(desk.identity.did, "sage", mode, middle);
    const peer = await world.connect(front.url, ann, { pin: "sage" });
    const named = peer.card.capabilities.extensions.filter(({ uri }) => uri === "urn:koine:sage:1");
    expect(named.map(({ params }) => params?.["did"])).toEqual([middle.did]);
    expect(await peer.ask("hello")).toBe("hello");
  });

  test("by other protocols behind it, the signature arrives and is verified", async () => {
    const [ann, middle] = [await world.register(), await world.register()];
    const desk = await world.serve(signer, { protocols: [a2a, acp, sage] });
    for (const pin of ["acp", "a2a@0.3"]) {
      const front = await gateway(desk.url, pin, mode, middle);
      const peer = await through(front, desk.identity.did, ann);
      expect(await peer.ask(pin)).toBe(`${ann.did}: ${pin}`);
    }
  });

  test("that the agent does not know as one, messages of others are refused", async () => {
    const [ann, middle] = [await world.register(), await world.register()];
    const desk = await world.serve(signer);
    const front = await gateway(desk.identity.did, "sage", mode, middle);
    const peer = await through(front, desk.identity.did, ann);
    await expect(peer.ask("hello")).rejects.toMatchObject({ facts: { detail: { error: "ErrInvalidSignature" } } });
    expect(world.log.reasons().join()).toContain("(sig.binding)");
  });

  test("to an agent by a wire that cannot carry it, a signed message is refused", async () => {
    const [ann, middle] = [await world.register(), await world.register()];
    const desk = await world.serve(signer);
    const front = await gateway(desk.url, "a2a@plain", mode, middle);
    const settings = { sage: { ...SETTINGS.sage, gateway: middle.did, seal: false } };
    const peer = await world.connect(front.url, ann, { pin: "sage", settings });
    await expect(peer.ask("hello")).rejects.toMatchObject({ code: "downgrade_refused" });
  });
});

describe("a gateway that leaves out the end of a stream", () => {
  const counting = agent({
    name: "desk",
    description: "counts",
    async *handle() {
      for (const word of ["one", "two", "three"]) yield `${word} `;
      return undefined;
    },
  });

  /** Streams through a gateway that treats the events with content as `keeps` says, and passes on the rest. */
  async function streamed(keeps: (place: number) => boolean, endsWith: (event: AgentEvent) => AgentEvent = (event) => event) {
    const [ann, middle] = [await world.register(), await world.register()];
    const desk = await world.serve(counting, { settings: { sage: { ...SETTINGS.sage, relays: middle.did } } });
    const leaving: Layer = (next) => (operation, call) => {
      const reply = next(operation, call);
      return isPromise(reply) ? reply : left(reply);
    };
    const upstream = { upstream: desk.identity.did, pin: "sage", mode: "relay" } as const;
    const front = await gatewayWith({ ...upstream, identity: middle, layers: [leaving] });
    async function* left(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
      let place = 0;
      for await (const event of events) {
        if (event.kind === "artifact" && !keeps(place++)) continue;
        yield isClosing(event) ? endsWith(event) : event;
      }
    }
    const peer = await through(front, desk.identity.did, ann, true);
    let text = "";
    let state = "";
    for await (const event of peer.stream("count")) {
      if (event.kind === "artifact") text += event.artifact.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
      if (event.kind === "status") {
        state = event.status.state;
        expect(event.status.message).toBeUndefined();
      }
    }
    return { text, state };
  }

  const bare = (event: AgentEvent): AgentEvent => {
    if (event.kind !== "status") return event;
    const { message: _, ...status } = event.status;
    return { ...event, status };
  };

  test("all of it arrives, and its end is not seen by the caller", async () => {
    expect(await streamed(() => true)).toEqual({ text: "one two three ", state: "completed" });
  });

  test("the last record removed, and the end said to have come: reported as cut", async () => {
    await expect(streamed(() => true, bare)).rejects.toMatchObject({
      code: "interrupted",
      facts: { detail: { reason: "stream.cut" } },
    });
  });

  test("the last pieces removed with it: reported as cut", async () => {
    await expect(streamed((place) => place === 0, bare)).rejects.toMatchObject({ facts: { detail: { reason: "stream.cut" } } });
  });

  test("everything removed but the end: reported as cut", async () => {
    await expect(streamed(() => false, bare)).rejects.toMatchObject({ facts: { detail: { reason: "stream.cut" } } });
  });

  test("a piece in the middle removed: out of order", async () => {
    await expect(streamed((place) => place !== 1)).rejects.toMatchObject({ facts: { detail: { reason: "stream.order" } } });
  });
});

const clerk = agent({
  name: "desk",
  description: "works on tasks",
  async *handle(message, task) {
    if (message.text === "unclear") return task.ask("which one?");
    yield task.working("busy");
    yield task.artifact(`copy of ${message.text}`);
    return task.complete(`done ${message.text}`);
  },
});

const partsIn = (parts: readonly Part[]): string =>
  parts.map((part) => (part.kind === "text" ? part.text : (part.mediaType ?? ""))).join("");
const messagesIn = (messages: readonly Envelope[]) => messages.map(({ role, content }) => [role, partsIn(content)]);
const SEALED = "application/vnd.koine.sealed";

describe.each(["direct", "relay", "adopt"] as const)("a sealed call that becomes a task (%s)", (way) => {
  async function called(): Promise<{ readonly peer: RemoteAgent; readonly seen: readonly unknown[] }> {
    const [ann, middle] = [await world.register(), await world.register()];
    const desk = await world.serve(clerk, { settings: { sage: { ...SETTINGS.sage, relays: middle.did } } });
    if (way === "direct") return { peer: await world.connect(desk.identity.did, ann), seen: [] };
    const front = await gateway(desk.identity.did, "sage", way, middle);
    return { peer: await through(front, desk.identity.did, ann, true), seen: front.seen };
  }

  test("is answered with the task, and the caller's own message is in it", async () => {
    const { peer, seen } = await called();
    const event = await peer.send("secret");
    const task = event.kind === "task" ? event.task : undefined;
    expect(task?.status.state).toBe("completed");
    expect(partsIn(task?.status.message?.content ?? [])).toBe("done secret");
    expect(task?.artifacts.map(({ parts }) => partsIn(parts))).toEqual(["copy of secret"]);
    expect(messagesIn(task?.history ?? [])[0]).toEqual(["user", "secret"]);
    expect(task?.history[0]?.metadata).toBeUndefined();
    expect(JSON.stringify(seen)).not.toContain("secret");
  });

  test("is streamed to its end", async () => {
    const { peer } = await called();
    const events: string[] = [];
    for await (const event of peer.stream("secret")) {
      if (event.kind === "task") events.push(...messagesIn(event.task.history).map((message) => message.join(" ")));
      if (event.kind === "artifact") events.push(partsIn(event.artifact.parts));
      if (event.kind === "status") events.push(`${event.status.state} ${partsIn(event.status.message?.content ?? [])}`);
    }
    expect(events).toEqual(["user secret", "working busy", "copy of secret", "completed done secret"]);
  });

  test("goes on; of the earlier messages none is shown as opened that was not", async () => {
    const { peer } = await called();
    const first = await peer.send("unclear");
    const task = first.kind === "task" ? first.task.id : "";
    const second = await peer.send("unclear", { task });
    const earlier = way === "adopt" ? [SEALED, SEALED] : ["unclear", "which one?"];
    expect(second.kind === "task" && messagesIn(second.task.history)).toEqual([
      ["user", earlier[0]],
      ["agent", earlier[1]],
      ["user", "unclear"],
    ]);
    expect(second.kind === "task" && partsIn(second.task.status.message?.content ?? [])).toBe("which one?");
  });

  test("is answered and goes on with idempotency keys", async () => {
    const { peer } = await called();
    const shown = (event: AgentEvent) =>
      event.kind === "task" && [
        partsIn(event.task.status.message?.content ?? []),
        ...event.task.artifacts.map(({ parts }) => partsIn(parts)),
      ];
    expect(shown(await peer.send("secret", { key: "k-1" }))).toEqual(["done secret", "copy of secret"]);
    const asked = await peer.send("unclear", { key: "k-2" });
    expect(shown(asked)).toEqual(["which one?"]);
    const task = asked.kind === "task" ? asked.task.id : "";
    expect(shown(await peer.send("this one", { task, key: "k-3" }))).toEqual(["done this one", "copy of this one"]);
  });
});

test("a gateway that got an answer as a stream cannot leave out an artifact of the task", async () => {
  const [ann, middle] = [await world.register(), await world.register()];
  const desk = await world.serve(clerk, { settings: { sage: { ...SETTINGS.sage, relays: middle.did } } });
  const without: Layer = (next) => (operation, call) => {
    const reply = next(operation, call);
    if (!isPromise(reply)) return reply;
    return reply.then((event) => (event.kind === "task" ? { ...event, task: { ...event.task, artifacts: [] } } : event));
  };
  const front = await gatewayWith({
    upstream: desk.identity.did,
    pin: "sage",
    mode: "adopt",
    identity: middle,
    layers: [without],
  });
  const peer = await through(front, desk.identity.did, ann, true);
  await expect(peer.send("secret", { key: "k-1" })).rejects.toMatchObject({ name: "ErrReplayAttack", reason: "stream.order" });
});

describe("a gateway that changes the history of a task", () => {
  /** Streams through a gateway that changes each event. */
  async function streamed(change: (event: AgentEvent, own: SealedBy) => AgentEvent): Promise<void> {
    const [ann, middle] = [await world.register(), await world.register()];
    const desk = await world.serve(clerk, { settings: { sage: { ...SETTINGS.sage, relays: middle.did } } });
    const changing: Layer = (next) => (operation, call) => {
      const reply = next(operation, call);
      return isPromise(reply) ? reply : changed(reply);
    };
    async function* changed(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent, void, void> {
      for await (const event of events) yield change(event, { did: ann.did, recipient: desk.identity.did });
    }
    const upstream = { upstream: desk.identity.did, pin: "sage", mode: "relay", identity: middle } as const;
    const front = await gatewayWith({ ...upstream, layers: [changing] });
    const peer = await through(front, desk.identity.did, ann, true);
    for await (const event of peer.stream("secret")) expect(event.kind).not.toBe("message");
  }

  const withHistory = (change: (message: Envelope) => Envelope) => (event: AgentEvent) =>
    event.kind === "task" ? { ...event, task: { ...event.task, history: event.task.history.map(change) } } : event;

  test("one in clear: refused", async () => {
    const clear = withHistory((message) => ({ ...message, content: [{ kind: "text", text: "other" }] }));
    await expect(streamed(clear)).rejects.toMatchObject({ facts: { detail: { reason: "policy_denied" } } });
  });

  test("one in clear that is said to be the caller's own: refused", async () => {
    const clear = (event: AgentEvent, by: SealedBy) =>
      withHistory((message) => ({ ...message, content: [{ kind: "text", text: "other" }], metadata: withSealedBy(by) }))(event);
    await expect(streamed(clear)).rejects.toMatchObject({ facts: { detail: { reason: "policy_denied" } } });
  });

  test("an altered record: refused", async () => {
    const altered = withHistory((message) => ({
      ...message,
      content: message.content.map((part) =>
        part.kind === "raw"
          ? { ...part, bytes: part.bytes.map((byte, at) => (at === part.bytes.length - 1 ? byte ^ 1 : byte)) }
          : part,
      ),
    }));
    await expect(streamed(altered)).rejects.toMatchObject({ facts: { detail: { reason: "session.aead" } } });
  });

  test("a record of it in the place of the end: refused", async () => {
    let taken: Envelope | undefined;
    const moved = (event: AgentEvent): AgentEvent => {
      if (event.kind === "task") {
        taken = event.task.history[0];
        return { ...event, task: { ...event.task, history: [] } };
      }
      return event.kind === "status" ? { ...event, status: { ...event.status, state: "completed", message: taken } } : event;
    };
    await expect(streamed(moved)).rejects.toMatchObject({ facts: { detail: { reason: "session.aead" } } });
  });
});
