import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { p256EphemeralKey } from "../../../security/agreement/index.js";
import { addressOf, didAllOf, parseDidAll } from "./did-all.js";
import { legacyKeys } from "./key-schedule.js";
import { pythonJson } from "./python-json.js";

/** Values that agent-connect 0.3.5 computed. */
interface Vectors {
  readonly sourcePrivate: string;
  readonly sourcePublic: string;
  readonly destinationPublic: string;
  readonly sourceRandom: string;
  readonly destinationRandom: string;
  readonly agreed: string;
  readonly source: string;
  readonly destination: string;
  readonly secretKeyId: string;
  readonly did: string;
  readonly json: { readonly value: never; readonly text: string };
}

const vectors: Vectors = JSON.parse(readFileSync(new URL("fixtures/key-schedule.json", import.meta.url), "utf8"));
const bytes = (hex: string): Buffer => Buffer.from(hex, "hex");
const hex = (some: Uint8Array): string => Buffer.from(some).toString("hex");

describe("the old session", () => {
  const own = p256EphemeralKey(bytes(vectors.sourcePrivate));

  test("agrees on the keys of the published vector", () => {
    const agreed = own.agree(bytes(vectors.destinationPublic));
    const { source, destination, secretKeyId } = legacyKeys(agreed, vectors.sourceRandom, vectors.destinationRandom);
    expect({ agreed: hex(agreed), source: hex(source), destination: hex(destination), secretKeyId }).toEqual({
      agreed: vectors.agreed,
      source: vectors.source,
      destination: vectors.destination,
      secretKeyId: vectors.secretKeyId,
    });
  });

  test("names a key by its address", () => {
    expect(hex(own.publicBytes)).toBe(vectors.sourcePublic);
    expect(didAllOf(own.publicBytes, undefined)).toBe(vectors.did);
    const address = addressOf(own.publicBytes);
    expect(parseDidAll(`did:all:${address}@localhost:8080`)).toEqual({ address, host: "localhost:8080" });
    for (const other of [
      "did:all:",
      `did:all:${address}@`,
      `did:all:${address}@a b`,
      `did:wba:${address}`,
      `did:all:0${address}`,
    ])
      expect(parseDidAll(other)).toBeUndefined();
  });

  test("signs the JSON that Python writes", () => {
    expect(pythonJson(vectors.json.value)).toBe(vectors.json.text);
  });
});
