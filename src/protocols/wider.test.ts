import { describe, expect, it } from "vitest";
import { unknownCard } from "./unknown-card.js";
import { isWider } from "./wider.js";

const HOST = "http://peer.example";
const peersAt = (url: string) => [{ url, card: unknownCard(url, { streaming: false }), version: "1", binding: "b" }];

describe("isWider()", () => {
  it("is said of a document at the root of a host for an address below it", () => {
    expect(isWider(`${HOST}/agents/second`, `${HOST}/.well-known/card`, peersAt(`${HOST}/first`))).toBe(true);
    expect(isWider(`${HOST}/agents`, `${HOST}/agents-too/.well-known/card`, peersAt(`${HOST}/first`))).toBe(true);
  });

  it("is not said of the address's own document, or of one that names the address", () => {
    expect(isWider(HOST, `${HOST}/.well-known/card`, peersAt(`${HOST}/first`))).toBe(false);
    expect(isWider(`${HOST}/second/`, `${HOST}/second/.well-known/card`, peersAt(`${HOST}/elsewhere`))).toBe(false);
    expect(isWider(`${HOST}/card.json`, `${HOST}/card.json`, peersAt(`${HOST}/first`))).toBe(false);
    expect(isWider(`${HOST}/a2a`, `${HOST}/.well-known/card`, peersAt(`${HOST}/a2a`))).toBe(false);
  });
});
