import { describe, expect, it } from "vitest";
import { toy } from "../../test/toy/index.js";
import { AgentError, type Card } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import { createClientContext } from "../protocols/client-context.js";
import type { Finding, Protocol } from "../protocols/protocol.js";
import type { HttpRequest, Link } from "../transport/exchange.js";
import { discoverPeer } from "./discovery.js";

const URL = "http://peer.example";
const card: Card = {
  name: "peer",
  description: "",
  version: "1",
  skills: [],
  inputModes: [],
  outputModes: [],
  capabilities: { streaming: false, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
  security: { schemes: {}, anyOf: [] },
  interfaces: [],
};
const found: Finding = { peers: [{ url: URL, card, version: "1", binding: "b" }], evidence: [], proved: true };
const context = createClientContext({
  link: { exchange: () => Promise.reject(new AgentError("unavailable", "unreachable")), close: async () => undefined },
  ids: { now: () => 0, newId: () => "id" },
});

/** Everything that is to happen later happens at once, but the end of the search. */
const hasty: Clock = {
  now: () => 0,
  after(ms, run) {
    if (ms < 5_000) setImmediate(run);
    return () => undefined;
  },
  sleep: async () => undefined,
};

describe("discoverPeer()", () => {
  it("fails for a forged card, also after another interface was verified and its deadline passed", async () => {
    const quick: Protocol = { ...toy, id: "quick", discover: async () => found };
    const late: Protocol = {
      ...toy,
      id: "late",
      async discover(_link, _url, call, search) {
        await new Promise((resolve) => call.cancel.onCancel(resolve));
        await search?.check?.(card);
        return found;
      },
    };
    const check = (): never => {
      throw new AgentError("bad_signature", "not what was signed");
    };
    const options = { protocols: [quick, late], context, clock: hasty, discoverMs: 5_000 };
    await expect(discoverPeer(URL, { ...options, check })).rejects.toMatchObject({ code: "bad_signature" });
    expect((await discoverPeer(URL, options)).findings).toHaveLength(2);
  });

  it("reports a peer that answers nothing but 503 as unavailable, also where a protocol makes nothing of it", async () => {
    const statuses = [503, 503, 503, 404];
    const asking: Protocol = {
      ...toy,
      discover: async ({ link }) => void (await link.exchange({} as HttpRequest)), // the link does not look at it
      probe: async ({ link }) => void (await link.exchange({} as HttpRequest)),
    };
    const link: Link = {
      exchange: () => ({ status: statuses.shift() ?? 500, headers: { "retry-after": "2" }, body: undefined }),
      close: async () => undefined,
    };
    const options = { protocols: [asking], context: { ...context, link }, clock: hasty, discoverMs: 5_000 };
    const facts = { status: 503, retryAfterMs: 2_000, sent: "no" };
    await expect(discoverPeer(URL, options)).rejects.toMatchObject({ code: "unavailable", facts });
    await expect(discoverPeer(URL, options)).rejects.toMatchObject({ code: "unsupported" });
  });

  it("never uses a finding for the whole host: it may be another agent", async () => {
    const host: Protocol = { ...toy, id: "host", discover: async () => ({ ...found, wider: true }) };
    const slow: Protocol = {
      ...toy,
      id: "slow",
      async discover(_link, _url, call) {
        // Nobody is hurried by what may be another agent.
        await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
        if (call.cancel.reason !== undefined) throw call.cancel.reason;
        return found;
      },
    };
    const options = { context, clock: hasty, discoverMs: 5_000 };
    const idsOf = async (protocols: readonly Protocol[]) =>
      (await discoverPeer(`${URL}/agents/second`, { ...options, protocols })).findings.map(({ protocol }) => protocol.id);
    expect(await idsOf([host, slow])).toEqual(["slow"]);
    await expect(idsOf([host])).rejects.toMatchObject({ code: "not_found", message: expect.stringContaining("/agents/second") });
  });
});
