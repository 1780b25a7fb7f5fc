import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type Bridge, bridge, serve } from "../../src/index.js";
import { a2a } from "../../src/protocols/a2a/index.js";
import { acp } from "../../src/protocols/acp/index.js";
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

/** A gateway under its own DID in front of `upstream`. */
async function gateway(upstream: string, pin: string, mode: "adopt" | "relay", identity: LocalIdentity): Promise<Gateway> {
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
  return world.connect(front.url, ann, { pin: "sage", settings });
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
