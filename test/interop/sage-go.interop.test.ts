import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import { LEGACY_SIGNATURES, verifyLegacyRequest } from "../../src/protocols/sage/legacy/legacy-signatures.js";
import { type LocalIdentity, type PublicKey, writeNewIdentity } from "../../src/security/identity/index.js";
import {
  MessageSigner,
  PLAIN_SIGNATURES,
  type SignatureProfile,
  type SignedRequest,
} from "../../src/security/signatures/index.js";
import { peerProgram } from "../../tools/peers.mjs";
import type { OfficialServer } from "../peers/official.js";
import { embeddedRegistry, newAgent, register, type TestRegistry } from "../sage/registries.js";
import { runProgram, startProgram } from "./python.js";

/**
 * An agent of the first generation of SAGE (sage 1.5.2, sage-a2a-go 1.7.0, Go). It signs requests and sends them here, where the
 * verifier of the old form judges them as they are and tampered; and it judges requests that are signed here.
 */

const program = peerProgram("sage-go");
const ALGORITHMS = { Ed25519: "ed25519", secp256k1: "es256k" } as const;
const KINDS = ["Ed25519", "secp256k1"] as const;
type Kind = (typeof KINDS)[number];
const BODY = '{"jsonrpc":"2.0","id":1,"method":"message/send"}';

interface Arrived {
  readonly request: SignedRequest;
  readonly body: Buffer;
}

/** What a change makes of a request, and how it is judged then. */
type Tampering = readonly [name: string, change: (arrived: Arrived) => Arrived, problem: string];

const TAMPERED: readonly Tampering[] = [
  ["the method", ({ request, body }) => ({ request: { ...request, method: "PUT" }, body }), "wrong"],
  ["the path", (arrived) => retargeted(arrived, (url) => url.replace("/rpc", "/admin")), "wrong"],
  ["the query", (arrived) => retargeted(arrived, (url) => `${url}&admin=1`), "wrong"],
  ["the body", ({ request }) => ({ request, body: Buffer.from("{}") }), "digest_mismatch"],
  ["a bit of the signature", (arrived) => changed(arrived, "signature", flipped), "wrong"],
  [
    "the time",
    (arrived) =>
      changed(arrived, "signature-input", (text) => text.replace(/created=(\d+)/, (_, at) => `created=${Number(at) + 1}`)),
    "wrong",
  ],
  ["the coverage", (arrived) => changed(arrived, "signature-input", (text) => text.replace(' "content-digest"', "")), "coverage"],
  ["the digest", (arrived) => changed(arrived, "content-digest", () => "sha-256=:AAAA:"), "wrong"],
];

function retargeted({ request, body }: Arrived, change: (url: string) => string): Arrived {
  return { request: { ...request, target: change(request.target) }, body };
}

function changed({ request, body }: Arrived, name: string, change: (text: string) => string): Arrived {
  const before = request.headers[name] ?? "";
  const after = change(before);
  if (after === before) throw new Error(`${name} was not changed`);
  return { request: { ...request, headers: { ...request.headers, [name]: after } }, body };
}

/** The first bit of the signature inverted. */
function flipped(field: string): string {
  return field.replace(/:([^:]+):/, (_, value: string) => {
    const bytes = Buffer.from(value, "base64");
    bytes[0] = (bytes[0] ?? 0) ^ 0x80;
    return `:${bytes.toString("base64")}:`;
  });
}

/** Private keys by kind in hexadecimal, from the file of an identity: nothing else gives them. */
async function secretsOf(identity: LocalIdentity): Promise<{ readonly [kind: string]: string }> {
  const folder = mkdtempSync(join(tmpdir(), "koine-sage-"));
  try {
    const file = join(folder, "agent.json");
    await writeNewIdentity(file, identity);
    const { keys } = JSON.parse(readFileSync(file, "utf8")) as { keys: { privateKey: { crv: string; d: string } }[] };
    return Object.fromEntries(keys.map(({ privateKey: { crv, d } }) => [crv, Buffer.from(d, "base64url").toString("hex")]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe.skipIf(!existsSync(program))("sage 1.5.2", () => {
  let registries: TestRegistry;
  let server: Server;
  let url: string;
  let agent: LocalIdentity;
  let secrets: { readonly [kind: string]: string };
  const arrived: Arrived[] = [];
  beforeAll(async () => {
    registries = await embeddedRegistry();
    agent = await newAgent();
    await register(registries, agent);
    secrets = await secretsOf(agent);
    server = createServer((request, response) => {
      void receive(request).then((each) => {
        arrived.push(each);
        response.end("received");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server?.close();
    await registries?.close();
  });

  async function receive(request: IncomingMessage): Promise<Arrived> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    return { request: { method: request.method ?? "", target: `${url}${request.url}`, headers }, body: Buffer.concat(chunks) };
  }

  function keyOf(kind: Kind): PublicKey {
    const key = agent.keys().find((each) => each.kind === kind);
    if (key === undefined) throw new Error(`no ${kind} key`);
    return key;
  }

  /** Has the peer sign with a key of the agent and send; resolves with what arrived. */
  async function sent(kind: Kind, order: { readonly [name: string]: unknown } = {}): Promise<Arrived> {
    const whole = {
      method: "POST",
      url: `${url}/rpc?a=1`,
      body: BODY,
      did: agent.did,
      kind,
      privateKey: secrets[kind],
      ...order,
    };
    const child = spawn(program, ["call"]);
    child.stdin.end(JSON.stringify([whole]));
    arrived.length = 0;
    expect(await runProgram(child)).toEqual({ 0: { status: 200, body: "received" } });
    const [only] = arrived;
    if (only === undefined) throw new Error("nothing arrived");
    return only;
  }

  const judged = ({ request, body }: Arrived, nowMs = Date.now()) =>
    verifyLegacyRequest(request, body, { cache: new DidCache({ registries: [registries.registry] }), nowMs });

  describe.each(KINDS)("a request that it signed with %s", (kind) => {
    test("is valid", async () => {
      const request = await sent(kind, { headers: { "content-type": "application/json" } });
      expect(await judged(request)).toMatchObject({
        did: agent.did,
        key: keyOf(kind).id,
        algorithm: ALGORITHMS[kind],
        open: ["host", "replay", "content-type"],
      });
    });

    test.each(TAMPERED)("is refused after a change of %s", async (_, change, problem) => {
      const request = await sent(kind);
      await expect(judged(change(request))).rejects.toMatchObject({ problem });
      expect(await judged(request)).toMatchObject({ did: agent.did });
    });

    test("is refused when it is older than five minutes", async () => {
      await expect(judged(await sent(kind), Date.now() + 340_000)).rejects.toMatchObject({ problem: "expired" });
    });

    test("is valid without a body, and with all that it can sign", async () => {
      expect(await judged(await sent(kind, { method: "GET", body: "" }))).toMatchObject({ did: agent.did });
      const components = ["@method", "@path", "@query", "@authority", "content-type", "content-digest"];
      const now = Math.floor(Date.now() / 1_000);
      const headers = { "content-type": "application/json" };
      const request = await sent(kind, { components, headers, created: now, expires: now + 60, nonce: "n1" });
      expect((await judged(request)).open).toEqual([]);
    });
  });

  test("a request for a path with escapes is refused: it signs the path without them", async () => {
    const request = await sent("Ed25519", { url: `${url}/a%2Fb` });
    await expect(judged(request)).rejects.toMatchObject({ problem: "coverage" });
  });

  test("a request signed with the key of somebody else is refused", async () => {
    const other = await newAgent();
    await register(registries, other);
    await expect(judged(await sent("Ed25519", { did: other.did }))).rejects.toMatchObject({ problem: "wrong" });
  });

  describe.each(KINDS)("judges requests that are signed here with %s", (kind) => {
    let peer: OfficialServer;
    beforeAll(async () => {
      const known = { [agent.did]: { kind, publicKey: Buffer.from(keyOf(kind).bytes).toString("hex") } };
      peer = await startProgram(spawn(program, ["serve", JSON.stringify(known)]));
    });
    afterAll(() => peer?.close());

    async function signed(profile: SignatureProfile): Promise<Arrived> {
      const key = { keyId: agent.did, algorithm: ALGORITHMS[kind], sign: (base: Uint8Array) => agent.sign(keyOf(kind).id, base) };
      const signer = new MessageSigner({ profile, key, now: Date.now });
      const request = { method: "POST", target: `${peer.url}/rpc?a=1`, headers: {} };
      const body = Buffer.from(BODY);
      return { request: { ...request, headers: await signer.request(request, body) }, body };
    }

    async function answer({ request: { method, target, headers }, body }: Arrived): Promise<readonly [number, string]> {
      const fields = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
      const response = await fetch(target, { method, headers: fields, body: new Uint8Array(body) });
      return [response.status, (await response.text()).trim()];
    }

    test("in the old form: valid", async () => {
      expect(await answer(await signed(LEGACY_SIGNATURES))).toEqual([200, agent.did]);
    });

    test.each(TAMPERED.filter(([name]) => name !== "the coverage"))("after a change of %s: refused", async (_, change) => {
      expect((await answer(change(await signed(LEGACY_SIGNATURES))))[0]).toBe(401);
    });

    test("in another order of parameters: refused, because it writes them anew in its own", async () => {
      const [status, problem] = await answer(await signed({ ...PLAIN_SIGNATURES, request: LEGACY_SIGNATURES.request }));
      expect([status, problem]).toEqual([401, expect.stringContaining("signature verification failed")]);
    });
  });
});
