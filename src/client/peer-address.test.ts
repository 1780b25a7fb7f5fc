import { describe, expect, test } from "vitest";
import { toy } from "../../test/toy/index.js";
import type { DidMethod, Protocol } from "../protocols/protocol.js";
import { peerAddress } from "./peer-address.js";

const resolving = (...didMethods: readonly DidMethod[]): readonly Protocol[] => [{ ...toy, didMethods }];

describe("peerAddress", () => {
  test.each([
    ["ws://agent.example:81/x", "http://agent.example:81/x"],
    ["wss://agent.example/", "https://agent.example"],
    ["http://agent.example/", "http://agent.example"],
  ])("discovers %s at %s", async (url, address) => {
    expect(await peerAddress(url)).toBe(address);
  });

  test.each([
    ["ftp://agent.example", "unsupported"],
    ["not a url", "invalid_message"],
    ["ws://ann:secret@agent.example", "invalid_message"],
    ["did:unknown:x", "unsupported"],
  ])("refuses %s", async (url, code) => {
    await expect(peerAddress(url)).rejects.toMatchObject({ code, facts: { field: "url", sent: "no" } });
  });

  test("calls the first service of a DID document that has an address", async () => {
    const services = async () => [
      { type: "Mail", url: "mailto:ann@agent.example" },
      { type: "Agent", url: "wss://127.0.0.1:8443/session" },
    ];
    expect(await peerAddress("did:one:ann", resolving({ method: "one", services }))).toBe("https://127.0.0.1:8443/session");
  });

  test("refuses a DID document without such a service", async () => {
    const method: DidMethod = { method: "one", services: async () => [{ type: "Mail", url: "mailto:ann@agent.example" }] };
    await expect(peerAddress("did:one:ann", resolving(method))).rejects.toMatchObject({ code: "bad_peer" });
  });
});
