import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, it } from "vitest";
import { AgentError } from "../../envelope/index.js";
import type { HttpResponse } from "../../transport/exchange.js";
import { makeRequest } from "../../transport/request.js";
import { PLAIN_SIGNATURES, type SignatureProfile } from "./profile.js";
import { responseVerification } from "./response-verification.js";
import { MessageSigner, responseSigning } from "./sign.js";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const URL = "https://agent.example/a2a";
const BOUND = ['"@status"', '"@method";req', '"@target-uri";req', '"signature";req', '"content-type"'];
const PROFILE: SignatureProfile = {
  ...PLAIN_SIGNATURES,
  tag: "test-1",
  digestOfEmptyBody: true,
  response: { sign: [...BOUND, "content-digest"], exact: true },
  stream: { sign: BOUND, exact: true },
};
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const signer = new MessageSigner({
  profile: PROFILE,
  key: { keyId: "bob", algorithm: "ed25519", sign: (base) => sign(null, base, privateKey) },
  now: () => NOW,
});
const verify = responseVerification({
  profile: PROFILE,
  keys: (keyId) => (keyId === "bob" ? { algorithm: "ed25519", key: publicKey } : undefined),
  now: () => NOW,
});
const request = (signature = "sig1=:AAAA:", url = URL) =>
  makeRequest({ method: "POST", url, headers: { signature }, body: "{}" });

async function answered(response: HttpResponse): Promise<HttpResponse> {
  const fields = await responseSigning(signer, ({ target }) => target)(response, request());
  return { ...response, headers: { ...response.headers, ...fields } };
}

async function* chunks() {
  yield "data: 1\n\n";
}

const JSON_RESPONSE: HttpResponse = { status: 200, headers: { "content-type": "application/json" }, body: '{"ok":true}' };

async function problemOf(result: Promise<unknown> | HttpResponse): Promise<string> {
  const error = await Promise.resolve(result).then(
    () => undefined,
    (thrown: unknown) => AgentError.from(thrown),
  );
  return String(error?.facts.detail?.["signature"]);
}

describe("signed responses", () => {
  it("verify, with their whole body", async () => {
    const { body, status } = await verify(await answered(JSON_RESPONSE), request());
    expect([status, Buffer.from(body as Uint8Array).toString()]).toEqual([200, '{"ok":true}']);
    const empty = await answered({ ...JSON_RESPONSE, status: 204, body: undefined });
    expect((await verify(empty, request())).status).toBe(204);
  });

  it("belong to their request, their status and their body", async () => {
    const response = await answered(JSON_RESPONSE);
    expect(await problemOf(verify(response, request("sig1=:BBBB:")))).toBe("wrong");
    expect(await problemOf(verify(response, request(undefined, `${URL}?x`)))).toBe("wrong");
    expect(await problemOf(verify({ ...response, status: 201 }, request()))).toBe("wrong");
    expect(await problemOf(verify({ ...response, body: '{"ok":fals}' }, request()))).toBe("digest_mismatch");
    expect(await problemOf(verify(JSON_RESPONSE, request()))).toBe("missing");
    const { "content-digest": _, ...headers } = response.headers;
    expect(await problemOf(verify({ ...response, headers }, request()))).toBe("coverage");
  });

  it("of a stream cover its head", async () => {
    const stream = await answered({ status: 200, headers: { "content-type": "text/event-stream" }, body: chunks() });
    expect(stream.headers["content-digest"]).toBeUndefined();
    expect((await verify(stream, request())).body).toBe(stream.body);
    expect(await problemOf(verify({ ...stream, status: 500 }, request()))).toBe("wrong");
    const strict = responseVerification({ profile: { ...PROFILE, stream: undefined }, keys: () => undefined, now: () => NOW });
    expect(await problemOf(strict(stream, request()))).toBe("coverage");
  });
});
