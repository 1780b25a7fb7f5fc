import { describe, expect, test } from "vitest";
import type { SignatureParameter, SignatureProfile } from "./profile.js";
import { SharedSecret } from "./shared-secret.js";
import { MessageSigner } from "./sign.js";

const REQUEST = { method: "GET", target: "https://agent.example/", headers: {} };

async function inputs(parameters: readonly SignatureParameter[], times: readonly number[], tag?: string) {
  const profile: SignatureProfile = {
    ...{ label: "s", parameters, algorithms: ["hmac-sha256"], digest: "sha-256", request: { sign: ["@method"] } },
    ...{ lifetimeMs: 300_000, skewMs: 0, tag },
  };
  let [nowMs, drawn] = [0, 0];
  const key = new SharedSecret(Buffer.alloc(32, 1)).signingKey("k");
  const signer = new MessageSigner({ profile, key, now: () => nowMs, nonce: () => `n${++drawn}` });
  const written: unknown[] = [];
  for (const time of times) {
    nowMs = time;
    written.push((await signer.request(REQUEST, new Uint8Array(0)))["signature-input"]);
  }
  return written;
}

describe("the parameters of a signature", () => {
  test("have the second in which it was made, and a nonce of their own", async () => {
    const ordered = ["created", "expires", "nonce", "keyid", "alg"] as const;
    expect(await inputs(ordered, [1_000, 1_999, 2_000, 1_999], "t")).toEqual([
      's=("@method");created=1;expires=301;nonce="n1";keyid="k";alg="hmac-sha256";tag="t"',
      's=("@method");created=1;expires=301;nonce="n2";keyid="k";alg="hmac-sha256";tag="t"',
      's=("@method");created=2;expires=302;nonce="n3";keyid="k";alg="hmac-sha256";tag="t"',
      's=("@method");created=1;expires=301;nonce="n4";keyid="k";alg="hmac-sha256";tag="t"',
    ]);
  });

  test("are in the order of the profile, with a nonce anywhere or without one", async () => {
    expect(await inputs(["nonce", "keyid", "created"], [5_000])).toEqual(['s=("@method");nonce="n1";keyid="k";created=5']);
    expect(await inputs(["keyid", "created", "nonce"], [5_000])).toEqual(['s=("@method");keyid="k";created=5;nonce="n1"']);
    expect(await inputs(["created", "keyid"], [5_000, 6_000])).toEqual([
      's=("@method");created=5;keyid="k"',
      's=("@method");created=6;keyid="k"',
    ]);
  });
});
