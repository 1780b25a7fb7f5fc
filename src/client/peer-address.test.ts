import { describe, expect, test } from "vitest";
import type { DidMethod } from "../protocols/protocol.js";
import { createResolver, type DidDocument } from "../security/index.js";
import { peerAddress } from "./peer-address.js";

const none = createResolver();
const resolving = (document: Partial<DidDocument>) => {
  const whole = { keys: [], services: [], deactivated: false, successor: undefined, bytes: new Uint8Array(0), ...document };
  const method: DidMethod = { method: "one", resolve: async (id) => ({ ...whole, id }) };
  return createResolver({ methods: [method] });
};

describe("peerAddress", () => {
  test.each([
    ["ws://agent.example:81/x", "http://agent.example:81/x"],
    ["wss://agent.example/", "https://agent.example"],
    ["http://agent.example/", "http://agent.example"],
  ])("discovers %s at %s", async (url, address) => {
    expect(await peerAddress(url, none)).toEqual({ url: address, did: undefined });
  });

  test.each([
    ["ftp://agent.example", "unsupported"],
    ["not a url", "invalid_message"],
    ["ws://ann:secret@agent.example", "invalid_message"],
  ])("refuses %s", async (url, code) => {
    await expect(peerAddress(url, none)).rejects.toMatchObject({ code, facts: { field: "url", sent: "no" } });
  });

  test("refuses a DID of an unknown method", async () => {
    await expect(peerAddress("did:unknown:x", none)).rejects.toMatchObject({ code: "unsupported", facts: { sent: "no" } });
  });

  test("calls the first service of a DID document that has an address", async () => {
    const services = [
      { id: "did:one:ann#mail", type: "Mail", url: "mailto:ann@agent.example" },
      { id: "did:one:ann#agent", type: "Agent", url: "wss://127.0.0.1:8443/session" },
    ];
    expect(await peerAddress("did:one:ann", resolving({ services }))).toEqual({
      url: "https://127.0.0.1:8443/session",
      did: "did:one:ann",
    });
  });

  test("refuses a DID document without such a service", async () => {
    const services = [{ id: "did:one:ann#mail", type: "Mail", url: "mailto:ann@agent.example" }];
    await expect(peerAddress("did:one:ann", resolving({ services }))).rejects.toMatchObject({ code: "bad_peer" });
  });

  test("refuses a deactivated DID, and names its successor", async () => {
    const resolver = resolving({ deactivated: true, successor: "did:one:bob" });
    await expect(peerAddress("did:one:ann", resolver)).rejects.toMatchObject({
      code: "identity_unresolved",
      facts: { detail: { reason: "did_transition_invalid", did: "did:one:ann" } },
      message: expect.stringContaining("did:one:bob"),
    });
  });

  test("refuses an address inside this network in a document from a public one", async () => {
    const services = [{ id: "did:one:ann#agent", type: "Agent", url: "http://127.0.0.1:1" }];
    const document = {
      keys: [],
      services,
      deactivated: false,
      successor: undefined,
      bytes: new Uint8Array(0),
      id: "did:one:ann",
    };
    const resolver = { resolve: async () => ({ document, observedAt: 0, from: "public" as const }), forget: () => undefined };
    await expect(peerAddress("did:one:ann", resolver)).rejects.toMatchObject({ code: "forbidden" });
  });
});
