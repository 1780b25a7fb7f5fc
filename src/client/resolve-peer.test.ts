import { expect, test } from "vitest";
import { toy } from "../../test/toy/index.js";
import { type Card, NO_FLOOR } from "../envelope/index.js";
import type { ClientContext, Protocol } from "../protocols/protocol.js";
import type { LanguageModel } from "../router/models/index.js";
import { createReplayGuard } from "../security/replay/index.js";
import { createMemoryStore } from "../tasks/index.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { connect } from "./connect.js";
import { DiscoveryCache } from "./discovery-cache.js";
import { peerTargetOf } from "./resolve-peer.js";

test("the key of a discovery result differs by credentials and holds none of them", () => {
  const keyOf = (bearer: string): string => peerTargetOf("http://peer.example", { credentials: { bearer } }).key;
  expect(keyOf("token-of-alice")).toBe(keyOf("token-of-alice"));
  expect(keyOf("token-of-alice")).not.toBe(keyOf("token-of-bob"));
  expect(keyOf("token-of-alice")).not.toContain("alice");
});

test("protocol clients get the limits, model, records, replay guard and settings of the connection, and are closed with it", async () => {
  const { records } = createMemoryStore({ now: () => 0 });
  const limits = { ...DEFAULT_LIMITS, partsPerMessage: 7 };
  const model: LanguageModel = { complete: () => Promise.reject(new Error("not asked")) };
  const contexts: ClientContext[] = [];
  let closed = 0;
  const probe: Protocol = {
    ...toy,
    discover: async () => ({
      peers: [{ url: "http://peer.example", card, version: "1", binding: "HTTP" }],
      evidence: [],
      proved: true,
    }),
    connect(context) {
      contexts.push(context);
      return { handler: async () => ({ kind: "done" }), protection: () => NO_FLOOR, close: async () => void closed++ };
    },
  };
  const link = { exchange: () => Promise.reject(new Error("not asked")), close: async () => undefined };
  const settings = { [toy.id]: { loud: true } };
  const replay = createReplayGuard({ limits, now: () => 0 });
  const options = { protocols: [probe], link, limits, model, records, replay, settings, discoveryCache: new DiscoveryCache() };
  const peer = await connect("http://peer.example", options);

  expect(await peer.health()).toBe(true);
  const [context] = contexts;
  expect([context?.limits, context?.model, context?.settings(toy.id)]).toEqual([limits, model, { loud: true }]);
  expect(context?.replay).toBe(replay);
  await context?.records(toy.id).put("agreed", { yes: true });
  expect(await records.get(`${toy.id}/agreed`)).toEqual({ yes: true });

  await peer.initialize();
  expect(closed).toBe(1);
  await peer.health();
  await peer.close();
  expect(closed).toBe(2);
});

test("an interface that discovery did not probe is verified only by an answer of its own", async () => {
  const peerAt = (version: string) => ({ url: "http://peer.example", card, version, binding: "HTTP" });
  const two: Protocol = {
    ...toy,
    versions: ["1", "2", "3"],
    discover: async () => ({ peers: ["1", "2", "3"].map(peerAt), evidence: [], proved: true }),
    connect: ({ peer }) => ({
      handler: () => (peer.version === "2" ? Promise.resolve({ kind: "done" }) : Promise.reject(new Error("no answer"))),
      protection: () => NO_FLOOR,
      close: async () => undefined,
    }),
  };
  const link = { exchange: () => Promise.reject(new Error("not asked")), close: async () => undefined };
  const verified = async (pin: string): Promise<boolean> => {
    const options = { protocols: [two], link, pin, discoveryCache: new DiscoveryCache() };
    const peer = await connect("http://peer.example", options);
    await peer.close();
    return peer.verified;
  };
  const results = await Promise.all(["1", "2", "3"].map((version) => verified(`${toy.id}@${version}`)));
  expect(results).toEqual([true, true, false]);
});

const card: Card = {
  name: "peer",
  description: "",
  version: "",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: false, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};
