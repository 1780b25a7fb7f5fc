import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SEALED_TYPE } from "../../../src/envelope/index.js";
import { agent } from "../../../src/index.js";
import { acp } from "../../../src/protocols/acp/index.js";
import { agora } from "../../../src/protocols/agora/index.js";
import { messageKeyOf } from "../../../src/protocols/sage/identity/signing-key.js";
import { innersOf } from "../../../src/protocols/sage/inner.js";
import type { LocalIdentity } from "../../../src/security/identity/index.js";
import { MessageSigner } from "../../../src/security/signatures/index.js";
import type { HttpRequest, Link } from "../../../src/transport/exchange.js";
import { isStream } from "../../../src/transport/exchange.js";
import { poolLink } from "../../../src/transport/node/index.js";
import { signRequest } from "../../../src/transport/sign.js";
import { alteringLink, type Sent } from "../captured.js";
import { ALL_PROTOCOLS, OVER, SageWorld } from "../world.js";
import { call, OVERS, type Over, serveOver } from "./way.js";

/** What somebody on the way tries with requests of SAGE over each of its protocols. Each is refused in the form of that protocol. */

let world: SageWorld;
let ann: LocalIdentity;
beforeEach(async () => {
  world = new SageWorld();
  ann = await world.register();
});
afterEach(async () => {
  world.log.expectMetered();
  await world.close();
});

/** What only a request with a message has in its body. */
const MESSAGE = { a2a: '"SendMessage"', acp: '"agent_name"', agora: '"protocolHash"' } as const;

/** A request with a message, as the caller signed it. It was not sent. */
async function captured(over: Over, to: { readonly url: string; readonly identity: LocalIdentity }, seal = false): Promise<Sent> {
  const through = poolLink();
  const kept: HttpRequest[] = [];
  const link: Link = {
    async exchange(request) {
      if (!Buffer.from(request.body).includes(seal ? SEALED_TYPE : MESSAGE[over])) return through.exchange(request);
      kept.push(await signRequest(request));
      throw new Error("captured");
    },
    close: () => through.close(),
  };
  const peer = await call({ world, url: to.url, caller: ann, did: to.identity.did }, { link, settings: { sage: { seal } } });
  await peer.send("hello").catch(() => undefined);
  const [request] = kept;
  if (request === undefined) throw new Error("nothing was sent");
  const headers = Object.entries(request.headers).filter((each): each is [string, string] => each[1] !== undefined);
  return { url: request.target, headers: Object.fromEntries(headers), body: Buffer.from(request.body).toString() };
}

/** The name of the error, where each protocol has its details. */
const nameIn: { readonly [over in Over]: (body: string) => unknown } = {
  a2a: (body) => JSON.parse(body).error?.data?.[0]?.metadata?.error,
  acp: (body) => JSON.parse(body).data?.error,
  agora: (body) => JSON.parse(body).metadata?.detail?.error,
};

async function post(over: Over, { url, headers, body }: Sent, method = "POST") {
  const before = world.log.all().length;
  const response = await fetch(url, { method, headers, ...(method === "POST" && { body }) });
  return { status: response.status, error: nameIn[over](await response.text()), refusals: world.log.all().slice(before) };
}

const refused = (error: string, refusal: string) => ({ status: 401, error, refusals: [refusal] });
const ACCEPTED = { status: 200, error: undefined, refusals: [] };
const FORBIDDEN = { a2a: 200, acp: 400, agora: 422 } as const;

/** The request signed again by the caller itself. */
async function resigned(over: Over, sent: Sent): Promise<Sent> {
  const { "signature-input": _input, signature: _signature, "content-digest": _digest, ...headers } = sent.headers;
  const profile = innersOf(OVER.a2a, [acp, agora]).find(({ id }) => id === over)?.signatures;
  if (profile === undefined) throw new Error("no profile");
  const signer = new MessageSigner({ profile, key: messageKeyOf(ann), now: Date.now });
  const fields = await signer.request({ method: "POST", target: sent.url, headers }, Buffer.from(sent.body));
  return { ...sent, headers: { ...headers, ...(fields as Record<string, string>) } };
}

const without = (sent: Sent, ...names: readonly string[]): Sent => ({
  ...sent,
  headers: Object.fromEntries(Object.entries(sent.headers).filter(([name]) => !names.includes(name))),
});
const withHeaders = (sent: Sent, headers: Record<string, string>): Sent => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
});

/** The message without what its author signed, in a request that is signed. */
function stripped(over: Over, sent: Sent): Sent {
  if (over === "acp") return without(sent, "koine-envelope");
  const body = JSON.parse(sent.body);
  if (over === "a2a") delete body.params.message.metadata;
  else delete body.metadata.envelope;
  return { ...sent, body: JSON.stringify(body) };
}

describe.each(OVERS)("a request of SAGE over %s", (over) => {
  test("is accepted once", async () => {
    const sent = await captured(over, await serveOver(world, undefined, over));
    expect(await post(over, sent)).toEqual(ACCEPTED);
    expect(await post(over, sent)).toEqual(refused("ErrReplayAttack", "replayed sig.replay"));
  });

  test("with a changed body is refused", async () => {
    const sent = await captured(over, await serveOver(world, undefined, over));
    const body = sent.body.replace("hello", "hullo");
    expect(body).not.toBe(sent.body);
    expect(await post(over, { ...sent, body })).toEqual(refused("ErrInvalidSignature", "bad_signature digest.mismatch"));
  });

  test("without its signature is no plain one", async () => {
    const sent = await captured(over, await serveOver(world, undefined, over));
    const bare = without(sent, "signature", "signature-input");
    expect(await post(over, bare)).toEqual(refused("ErrInvalidSignature", "bad_signature sig.missing"));
    expect(await post(over, without(sent, "x-agent-did"))).toEqual(refused("ErrInvalidSignature", "bad_signature sig.binding"));
  });

  test("whose message is not signed is refused", async () => {
    const sent = await captured(over, await serveOver(world, undefined, over));
    const clear = await resigned(over, stripped(over, sent));
    expect(await post(over, clear)).toEqual(refused("ErrInvalidSignature", "bad_signature sig.missing"));
  });

  test("with a message for another agent is refused", async () => {
    const sent = await captured(over, await serveOver(world, undefined, over));
    const other = await serveOver(world, undefined, over);
    const moved = { ...sent, url: sent.url.replace(new URL(sent.url).origin, other.url) };
    expect(await post(over, moved)).toEqual(refused("ErrInvalidSignature", "bad_signature sig.bad"));
    expect(await post(over, await resigned(over, moved))).toEqual(refused("ErrInvalidSignature", "bad_signature sig.binding"));
  });

  test("in a session with a message in clear is refused", async () => {
    const server = await serveOver(world, undefined, over);
    const sealed = await captured(over, server, true);
    const clear = await captured(over, server);
    const session = { "x-sage-session": sealed.headers["x-sage-session"] ?? "" };
    expect(session["x-sage-session"]).not.toBe("");
    expect(await post(over, await resigned(over, withHeaders(clear, session)))).toMatchObject({
      status: FORBIDDEN[over],
      error: "ErrDowngradeRefused",
      refusals: ["downgrade_refused policy_denied"],
    });
    expect(await post(over, sealed)).toEqual(ACCEPTED);
  });

  test("is refused where SAGE is over another protocol, and not handled as a plain one", async () => {
    const server = await serveOver(world, undefined, over);
    const sent = await captured(over, server);
    const other = await serveOver(world, undefined, over === "acp" ? "agora" : "acp");
    const moved = { ...sent, url: sent.url.replace(server.url, other.url) };
    expect(await post(over, moved)).toMatchObject({
      status: FORBIDDEN[over],
      error: "ErrDowngradeRefused",
      refusals: ["downgrade_refused policy_denied"],
    });
  });

  test("to an agent whose card does not offer SAGE any more is not sent", async () => {
    const server = await serveOver(world, undefined, over);
    const through = poolLink();
    const link: Link = {
      async exchange(request) {
        const answer = await through.exchange(request);
        if (request.signer?.verify !== undefined || isStream(answer.body) || answer.body === undefined) return answer;
        const text = Buffer.from(answer.body).toString().replaceAll("urn:koine:sage:1", "urn:koine:sagt:1");
        return { status: answer.status, headers: { ...answer.headers, "content-length": undefined }, body: text };
      },
      close: () => through.close(),
    };
    await expect(call({ world, url: server.url, caller: ann, did: server.identity.did }, { link })).rejects.toMatchObject({
      code: "downgrade_refused",
      name: "ErrDowngradeRefused",
    });
  });

  test("is not answered by an answer that is not signed, or altered", async () => {
    const server = await serveOver(world, undefined, over);
    const marker = MESSAGE[over];
    const unsigned = alteringLink(({ headers: { signature: _, ...headers }, ...rest }) => ({ ...rest, headers }), marker);
    const unsure = await call({ world, url: server.url, caller: ann, did: server.identity.did }, { link: unsigned });
    await expect(unsure.ask("hello")).rejects.toMatchObject({ code: "bad_signature" });
    const altered = alteringLink((answer) => ({ ...answer, body: `${Buffer.from(answer.body as Uint8Array)} ` }), marker);
    const other = await call({ world, url: server.url, caller: ann, did: server.identity.did }, { link: altered });
    await expect(other.ask("hello")).rejects.toMatchObject({ code: "bad_signature" });
  });
});

describe("what ACP carries in headers", () => {
  test("is covered by the signature: changed, left out or added, the request is refused", async () => {
    const server = await serveOver(world, undefined, "acp");
    const sent = await captured("acp", server);
    expect(sent.headers["signature-input"]).toContain('"koine-envelope"');
    const bad = refused("ErrInvalidSignature", "bad_signature sig.bad");
    expect(await post("acp", withHeaders(sent, { "koine-message-id": "other" }))).toEqual(bad);
    expect(await post("acp", without(sent, "koine-envelope"))).toEqual(
      refused("ErrInvalidSignature", "bad_signature sig.malformed"),
    );
    expect(await post("acp", withHeaders(sent, { "idempotency-key": "k" }))).toEqual(
      refused("ErrInvalidSignature", "bad_signature sig.coverage"),
    );
    expect(await post("acp", sent)).toEqual(ACCEPTED);
  });

  test("is refused if it does not fit: a long message that is signed and not sealed", async () => {
    const server = await serveOver(world, undefined, "acp");
    const peer = await call(
      { world, url: server.url, caller: ann, did: server.identity.did },
      { settings: { sage: { seal: false } } },
    );
    await expect(peer.ask("x".repeat(5_000))).rejects.toMatchObject({ code: "downgrade_refused" });
  });
});

test("an idempotency key that is added to a request over Agora is refused", async () => {
  const sent = await captured("agora", await serveOver(world, undefined, "agora"));
  expect(await post("agora", withHeaders(sent, { "idempotency-key": "k" }))).toEqual(
    refused("ErrInvalidSignature", "bad_signature sig.coverage"),
  );
});

test("documents of ACP and Agora are refused to a marked request that is not signed, and shown to a plain one", async () => {
  const { url } = await world.serve(undefined, {
    protocols: ALL_PROTOCOLS,
    settings: { sage: { over: "acp,agora" } },
  });
  const marked = { url, headers: { "x-agent-did": ann.did }, body: "" };
  const missing = refused("ErrInvalidSignature", "bad_signature sig.missing");
  for (const path of ["/ping", "/agents", "/agents/who", "/.well-known/agent.yml", "/acp/capabilities"])
    expect([path, (await post("acp", { ...marked, url: `${url}${path}` }, "GET")).refusals]).toEqual([path, missing.refusals]);
  expect(await post("acp", { ...marked, url: `${url}/agents` }, "GET")).toEqual(missing);
  expect(await post("agora", { ...marked, url: `${url}/.well-known/agora` }, "GET")).toEqual(missing);
  expect((await fetch(`${url}/agents`)).status).toBe(200);
  expect((await fetch(`${url}/.well-known/agora`)).status).toBe(200);
});

test("a signed request in the plain form of ACP is refused: it cannot carry a signed message", async () => {
  const server = await serveOver(world, undefined, "acp");
  const sent = await captured("acp", server);
  const plain = { ...sent, url: `${server.url}/acp/message`, body: JSON.stringify({ content: "hello", type: "request" }) };
  const before = world.log.all().length;
  const { url, headers, body } = await resigned("acp", without(plain, "koine-envelope"));
  expect((await fetch(url, { method: "POST", headers, body })).status).toBeGreaterThanOrEqual(400);
  expect(world.log.all().slice(before)).toEqual(["downgrade_refused policy_denied"]);
});

test("a stream over ACP that is cut is reported as cut", async () => {
  const counting = agent({
    name: "count",
    description: "counts",
    async *handle() {
      for (const word of ["one", "two", "three"]) yield `${word} `;
      return undefined;
    },
  });
  const server = await serveOver(world, counting, "acp");
  const link = alteringLink(({ body, ...rest }) => {
    if (!isStream(body)) return { ...rest, body };
    return { ...rest, body: withoutEnd(body) };
  }, MESSAGE.acp);
  async function* withoutEnd(chunks: AsyncIterable<string | Uint8Array>) {
    for await (const chunk of chunks) {
      const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
      if (text.includes("run.completed")) return;
      yield text;
    }
  }
  const peer = await call({ world, url: server.url, caller: ann, did: server.identity.did }, { link, resume: false });
  const all = async (): Promise<void> => {
    for await (const event of peer.stream("count")) expect(event.kind).not.toBe("message");
  };
  await expect(all()).rejects.toMatchObject({ code: "interrupted", facts: { detail: { reason: "stream.cut" } } });
});
