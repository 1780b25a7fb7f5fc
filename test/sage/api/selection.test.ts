import { describe, expect, test } from "vitest";
import { type AgentError, recordsBelow } from "../../../src/envelope/index.js";
import {
  type DowngradeOpening,
  type MessageProtocol,
  MockProtocol,
  newMessage,
  ProtocolA2A,
  ProtocolAuto,
  ProtocolSAGE,
  ProtocolSelector,
  type SagePolicy,
  SeenPeers,
  type SelectorOptions,
} from "../../../src/protocols/sage/api/index.js";
import { DidNotResolved } from "../../../src/protocols/sage/errors.js";
import type { AuditEntry } from "../../../src/security/index.js";
import { createMemoryStore } from "../../../src/tasks/index.js";

const DID = "did:sage:local:0x1234567890abcdef1234567890abcdef12345678";
const OTHER = "did:sage:local:0x9876543210fedcba9876543210fedcba98765432";
const URL_OF_PEER = "https://desk.example/";
const NOW = Date.parse("2026-11-17T12:00:00Z");

const failure = (promise: Promise<unknown>): Promise<Error | undefined> =>
  promise.then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );

/** A selector between protocols that answer with their names. */
function selection(change: Partial<SelectorOptions> & { readonly down?: AgentError; readonly offers?: string } = {}) {
  const { down, offers, ...options } = change;
  const records = recordsBelow(createMemoryStore({ now: () => NOW }).records, "t");
  const seen = new SeenPeers(records, () => NOW);
  const a2a = Object.assign(
    new MockProtocol({ name: "plain", sendMessage: (message) => ({ text: `plain ${JSON.stringify(message)}` }) }),
    {
      offeredDid: async () => offers,
    },
  );
  const sage = Object.assign(
    new MockProtocol({ name: "secured", requiresSecurity: true, sendMessage: () => ({ text: "secured" }) }),
    {
      did: OTHER,
      unavailable: async () => down,
    },
  );
  const selector = new ProtocolSelector({ mode: ProtocolAuto, a2a, sage, seen, now: () => NOW, ...options });
  return { selector, seen, records };
}

const nameOf = async (selected: Promise<MessageProtocol>): Promise<string> => (await selected).name;
const PREFERRED: SagePolicy = { mode: "preferred" };

describe("selectProtocol", () => {
  test("follows the mode", async () => {
    const message = newMessage("x", { recipientUrl: URL_OF_PEER });
    expect(await nameOf(selection({ mode: ProtocolA2A }).selector.selectProtocol(message))).toBe("plain");
    expect(await nameOf(selection({ mode: ProtocolSAGE }).selector.selectProtocol(message))).toBe("secured");
    expect(() => selection({ mode: "grpc" as never })).toThrow('unknown protocol mode: "grpc"');
    expect(() => selection({ mode: 7 as never })).toThrow("unknown protocol mode: number");
  });

  test("auto uses SAGE for a mark, a DID, a card, a seen agent and a policy that requires it", async () => {
    const { selector, seen } = selection({ policy: PREFERRED });
    expect(await nameOf(selector.selectProtocol(newMessage("x", { recipientUrl: URL_OF_PEER })))).toBe("plain");
    expect(await nameOf(selector.selectProtocol(newMessage("x", { security: { mode: "sage" } })))).toBe("secured");
    expect(await nameOf(selector.selectProtocol(newMessage("x", { recipientDid: DID })))).toBe("secured");
    await seen.add(DID, URL_OF_PEER);
    expect(await nameOf(selector.selectProtocol(newMessage("x", { recipientUrl: `${URL_OF_PEER}other/path` })))).toBe("secured");
    const offered = selection({ policy: PREFERRED, offers: DID }).selector;
    expect(await nameOf(offered.selectProtocol(newMessage("x", { recipientUrl: URL_OF_PEER })))).toBe("secured");
    const off = selection({ policy: { mode: "off" }, offers: DID }).selector;
    expect(await nameOf(off.selectProtocol(newMessage("x", { recipientUrl: URL_OF_PEER })))).toBe("plain");
    // Once withSAGE() is given, SAGE is required.
    expect(await nameOf(selection().selector.selectProtocol(newMessage("x", { recipientUrl: URL_OF_PEER })))).toBe("secured");
  });

  test("an unknown mode of a message is an error, and no plain message", async () => {
    const message = newMessage("x", { recipientUrl: URL_OF_PEER, security: { mode: "tls" as never } });
    expect((await failure(selection({ policy: PREFERRED }).selector.selectProtocol(message)))?.message).toContain(
      "security.mode",
    );
  });

  test("never sends by A2A alone what was seen with SAGE, also after a restart", async () => {
    const before = selection();
    await before.seen.add(DID, URL_OF_PEER);
    const seen = new SeenPeers(before.records, () => NOW);
    for (const sage of [undefined, before.selector] as const) {
      const mode = sage === undefined ? ProtocolAuto : ProtocolA2A;
      const { selector } = selection({ mode, seen, ...(sage === undefined ? { sage: undefined } : {}) });
      expect((await failure(selector.selectProtocol(newMessage("x", { recipientUrl: URL_OF_PEER }))))?.name).toBe(
        "ErrDowngradeRefused",
      );
    }
    // Unless the user switched it off.
    const { selector } = selection({ mode: ProtocolA2A, seen, policy: { pin: "none" } });
    expect(await nameOf(selector.selectProtocol(newMessage("x", { recipientUrl: URL_OF_PEER })))).toBe("plain");
  });
});

describe("selectWithFallback", () => {
  const down = new DidNotResolved("record.unreachable", "the node does not answer");
  const lines: AuditEntry[] = [];
  const notes: unknown[] = [];
  const opening: DowngradeOpening = {
    peers: [DID, "desk.example"],
    reasons: ["registry-unreachable"],
    maxSensitivity: "internal",
    because: "the node moves today",
    until: "2026-11-18T00:00:00Z",
    audit: { record: (entry) => lines.push(entry), close: async () => undefined },
    notes: (note) => notes.push(note),
  };
  const wanted = { recipientDid: DID, recipientUrl: URL_OF_PEER, sensitivity: "internal" } as const;

  test("is SAGE while SAGE is available", async () => {
    const { selector } = selection({ policy: { downgrade: opening }, offers: DID });
    expect(await nameOf(selector.selectWithFallback(newMessage("x", wanted)))).toBe("secured");
  });

  // Attack 2.
  test("fails if the registry does not answer: blocking one host switches nothing off", async () => {
    const { selector } = selection({ down });
    expect(await failure(selector.selectWithFallback(newMessage("x", wanted)))).toBe(down);
    expect(selector.downgrades.count).toBe(0);
  });

  test("by an exception sends without SAGE, logged, counted and shown in the answer", async () => {
    const { selector } = selection({ down, policy: { downgrade: opening } });
    const message = newMessage("x", { ...wanted, security: { mode: "sage" } });
    const protocol = await selector.selectWithFallback(message);
    expect(protocol).toMatchObject({ name: "plain", requiresSecurity: false });
    const response = await protocol.sendMessage(message);
    expect(response.security).toEqual({ protected: false, reason: "registry-unreachable" });
    expect(response.text).not.toContain("security");
    expect(selector.downgrades).toMatchObject({ count: 1, recent: [{ messageId: message.messageId, peer: DID }] });
    expect(lines).toEqual([
      expect.objectContaining({ event: "downgrade", agent: DID, reason: expect.stringContaining("the node moves today") }),
    ]);
    expect(notes).toEqual([expect.objectContaining({ kind: "floor", outcome: "lowered", requirement: "signed" })]);
    await expect(protocol.sendMessage(message, { session: {} as never })).rejects.toThrow("in a session");
  });

  test.each([
    ["another agent", { ...wanted, recipientDid: OTHER }, {}, "other agents"],
    ["a confidential message", { ...wanted, sensitivity: "confidential" as const }, {}, "confidential"],
    ["a message without a label", { recipientDid: DID, recipientUrl: URL_OF_PEER }, {}, "confidential"],
    ["an address without TLS", { ...wanted, recipientUrl: "http://desk.example/" }, {}, "no TLS"],
    ["a DID without an address", { recipientDid: DID, sensitivity: "public" as const }, {}, "no recipientUrl"],
    ["an exception that ended", wanted, { until: "2026-11-17T11:59:59Z" }, "ended"],
    ["another reason", wanted, { reasons: ["peer-has-no-sage"] as const }, "another reason"],
  ])("refuses %s", async (_, message, change, why) => {
    const { selector } = selection({ down, policy: { downgrade: { ...opening, ...change } } });
    const refused = await failure(selector.selectWithFallback(newMessage("x", message)));
    expect(refused).toMatchObject({ name: "ErrDowngradeRefused", message: expect.stringContaining(why) });
  });

  test("has an exception for agents without SAGE, but not for one that was seen with it", async () => {
    const policy = { downgrade: { ...opening, reasons: ["peer-has-no-sage"] as const } };
    const message = newMessage("x", { recipientUrl: URL_OF_PEER, sensitivity: "public" });
    const { selector, seen } = selection({ policy });
    expect(await nameOf(selector.selectWithFallback(message))).toBe("plain");
    expect((await failure(selection().selector.selectWithFallback(message)))?.name).toBe("ErrDowngradeRefused");
    await seen.add(DID, URL_OF_PEER);
    expect(await nameOf(selector.selectWithFallback(message))).toBe("secured");
  });

  test.each([
    [{ peers: ["*"] }, "downgrade.peers"],
    [{ peers: [] }, "downgrade.peers"],
    [{ reasons: [] }, "downgrade.reasons"],
    [{ reasons: ["slow" as never] }, "downgrade.reasons"],
    [{ maxSensitivity: "confidential" as never }, "downgrade.maxSensitivity"],
    [{ because: " " }, "downgrade.because"],
    [{ until: "soon" }, "downgrade.until"],
  ])("an exception with %j is refused when it is given", (change, field) => {
    expect(() => selection({ policy: { downgrade: { ...opening, ...change } } })).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ field }) }),
    );
  });

  test.each([{ mode: "maybe" as never }, { pin: "once" as never }])("a policy with %j is refused", (policy) => {
    expect(() => selection({ policy })).toThrow("is not valid");
  });
});
