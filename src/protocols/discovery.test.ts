import { describe, expect, it } from "vitest";
import { isWider, unknownCard } from "./discovery.js";

const HOST = "http://peer.example";
const peersAt = (url: string) => [{ url, card: unknownCard(url, { streaming: false }), version: "1", binding: "b" }];

describe("isWider()", () => {
  it("is true for a document at the root of a host and an address below it", () => {
    expect(isWider(`${HOST}/agents/second`, `${HOST}/.well-known/card`, peersAt(`${HOST}/first`))).toBe(true);
    expect(isWider(`${HOST}/agents`, `${HOST}/agents-too/.well-known/card`, peersAt(`${HOST}/first`))).toBe(true);
  });

  it("is false for the address's own document, or one that names the address", () => {
    expect(isWider(HOST, `${HOST}/.well-known/card`, peersAt(`${HOST}/first`))).toBe(false);
    expect(isWider(`${HOST}/second/`, `${HOST}/second/.well-known/card`, peersAt(`${HOST}/elsewhere`))).toBe(false);
    expect(isWider(`${HOST}/card.json`, `${HOST}/card.json`, peersAt(`${HOST}/first`))).toBe(false);
    expect(isWider(`${HOST}/a2a`, `${HOST}/.well-known/card`, peersAt(`${HOST}/a2a`))).toBe(false);
  });
});
