import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AgentError, agent, serve } from "../../src/index.js";
import { didSignatures } from "../../src/public/identity.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import type { HttpRequest, HttpResponse, Link } from "../../src/transport/exchange.js";
import { isStream } from "../../src/transport/exchange.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { poolLink } from "../../src/transport/node/index.js";
import { makeRequest } from "../../src/transport/request.js";
import { signRequest } from "../../src/transport/sign.js";
import { PROTOCOLS, SageWorld, SETTINGS } from "./world.js";

/** Messages sealed in sessions, as they cross the network: what somebody on the way sees, and what happens when a session ends. */

let world: SageWorld;
let ann: LocalIdentity;
beforeEach(async () => {
  world = new SageWorld();
  ann = await world.register();
});
afterEach(() => world.close());

const SECRET = "watermark-7f3a";
const secretive = agent({
  name: "secretive",
  description: "repeats",
  async *handle(message) {
    if (message.text.startsWith("stream")) {
      yield `${message.text} one `;
      yield "two";
      return undefined;
    }
    return `got ${message.text}`;
  },
});

/** A link that keeps all that crosses it. */
function watchedLink(): Link & { readonly seen: { request: HttpRequest; body: string; response: string }[] } {
  const link = poolLink();
  const seen: { request: HttpRequest; body: string; response: string }[] = [];
  return {
    seen,
    async exchange(request) {
      const final = await signRequest(request);
      const { method, target, headers, body, call } = final;
      const response = await link.exchange(
        makeRequest({ method, url: target, headers, body: body.length > 0 ? body : undefined, call }),
      );
      const entry = { request: final, body: Buffer.from(body).toString("latin1"), response: "" };
      seen.push(entry);
      const copied: HttpResponse = { status: response.status, headers: response.headers, body: copiedBody(response.body, entry) };
      return request.signer?.verify === undefined ? copied : request.signer.verify(copied, final);
    },
    close: () => link.close(),
  };
}

function copiedBody(body: HttpResponse["body"], entry: { response: string }): HttpResponse["body"] {
  if (!isStream(body)) {
    entry.response += typeof body === "string" ? body : Buffer.from(body ?? new Uint8Array(0)).toString("latin1");
    return body;
  }
  return (async function* () {
    for await (const chunk of body) {
      entry.response += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("latin1");
      yield chunk;
    }
  })();
}

const sends = (link: ReturnType<typeof watchedLink>) => link.seen.filter(({ body }) => body.includes("Message"));
const keyIdOf = ({ request }: { request: HttpRequest }): string =>
  /keyid="([^"]+)"/.exec(request.headers["signature-input"] ?? "")?.[1] ?? "";

describe("a session", () => {
  test.each(["hpke", "four-phase"])("made by %s is used for all calls; nobody on the way reads them", async (handshake) => {
    const { identity: server } = await world.serve(secretive);
    const link = watchedLink();
    const settings = { sage: { ...SETTINGS.sage, handshake } };
    const peer = await world.connect(server.did, ann, { link, settings });
    expect(await Promise.all([peer.ask(`${SECRET} a`), peer.ask(`${SECRET} b`)])).toEqual([`got ${SECRET} a`, `got ${SECRET} b`]);
    let streamed = "";
    let taskId = "";
    for await (const event of peer.stream(`stream ${SECRET}`)) {
      if (event.kind === "task") taskId = event.task.id;
      if (event.kind === "artifact")
        streamed += event.artifact.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    }
    expect(streamed).toBe(`stream ${SECRET} one two`);
    const task = await peer.getTask(taskId, { historyLength: 10 });
    expect(JSON.stringify(task)).toContain(SECRET);
    const crossed = link.seen.map(({ body, response }) => body + response).join("\n");
    expect(crossed).toContain("application/vnd.koine.sealed");
    expect(crossed).not.toContain(SECRET);
    expect(crossed).not.toContain(Buffer.from(SECRET).toString("base64").slice(0, 16));
    // One handshake for all of it, and then the key of the session signs.
    const handshakes = sends(link).filter(({ body }) => body.includes("handshake"));
    expect(handshakes).toHaveLength(handshake === "hpke" ? 1 : 2);
    const inSession = link.seen.filter(({ request }) => request.headers["x-sage-session"] !== undefined);
    expect(inSession.map(keyIdOf)).toEqual(inSession.map(({ request }) => request.headers["x-sage-session"]));
    expect(new Set(inSession.map(keyIdOf)).size).toBe(1);
    expect(inSession).toHaveLength(4);
  });

  test("needs no challenge, also right after the server started", async () => {
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now });
    const { identity: server } = await world.serve(secretive, { replay });
    const link = watchedLink();
    const peer = await world.connect(server.did, ann, { link });
    for (const text of ["a", "b", "c"]) expect(await peer.ask(text)).toBe(`got ${text}`);
    const inSession = link.seen.filter(({ request }) => request.headers["x-sage-session"] !== undefined);
    expect(inSession).toHaveLength(3);
  });

  test("a ping of a server that requires sealed messages is answered by its signed refusal", async () => {
    const { identity: server } = await world.serve(secretive, { require: ["signed", "end-to-end"] });
    const peer = await world.connect(server.did, ann);
    await expect(peer.ping()).resolves.toBeUndefined();
  });

  test("is required where the agent says so, and refused to whoever only signs", async () => {
    const { identity: server } = await world.serve(secretive, { require: ["signed", "end-to-end"] });
    const peer = await world.connect(server.did, ann, { require: ["signed", "end-to-end", "identity"] });
    expect(await peer.ask("a")).toBe("got a");
    const unsealed = await world.connect(server.did, ann, { settings: { sage: { ...SETTINGS.sage, seal: false } } });
    await expect(unsealed.ask("a")).rejects.toMatchObject({ code: "downgrade_refused" });
  });

  test("is made anew when the agent has forgotten it", async () => {
    const { identity: server, url } = await world.serve(secretive);
    const peer = await world.connect(server.did, ann);
    expect(await peer.ask("a")).toBe("got a");
    const { acceptedSessions } = await import("../../src/protocols/sage/session/accepted-sessions.js");
    acceptedSessions(server).table.checkKeys(ann.did, []);
    expect(await peer.ask("b")).toBe("got b");
    expect(url).toContain("http");
  });

  test("is made anew without a challenge: the refusal of an agent that has just started has a nonce for it", async () => {
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now });
    const { identity: server } = await world.serve(secretive, { replay });
    const link = watchedLink();
    const peer = await world.connect(server.did, ann, { link });
    expect(await peer.ask("a")).toBe("got a");
    const { acceptedSessions } = await import("../../src/protocols/sage/session/accepted-sessions.js");
    acceptedSessions(server).table.checkKeys(ann.did, []);
    link.seen.splice(0);
    expect(await peer.ask("b")).toBe("got b");
    expect(link.seen.map(({ response }) => /ErrSessionExpired|sig\.challenge/.exec(response)?.[0])).toEqual([
      "ErrSessionExpired",
      undefined,
      undefined,
    ]);
    const [refused, handshake] = link.seen;
    const nonce = /"nonce":"([\w.-]+)"/.exec(refused?.response ?? "")?.[1] ?? "none";
    expect(handshake?.request.headers["signature-input"]).toContain(`;nonce="${nonce}"`);
  });

  test("is the one that proved in discovery that the agent is there, and of one connection only", async () => {
    const { identity: server } = await world.serve(secretive);
    const { acceptedSessions } = await import("../../src/protocols/sage/session/accepted-sessions.js");
    const link = watchedLink();
    const peer = await world.connect(server.did, ann, { link });
    expect(acceptedSessions(server).table.size).toBe(1);
    expect(await peer.ask("a")).toBe("got a");
    // The card, the handshake and the message.
    expect(link.seen).toHaveLength(3);
    const other = await world.connect(server.did, ann);
    for (const each of [peer, other]) expect(await each.ask("b")).toBe("got b");
    expect(acceptedSessions(server).table.size).toBe(2);
  });

  test("is not needed to find an agent that refuses to make one now: a ping proves it", async () => {
    const { identity: server } = await world.serve(secretive);
    const pool = poolLink();
    const refused: string[] = [];
    const link: Link = {
      exchange(request) {
        const isHandshake = Buffer.from(request.body).includes("urn:koine:sage:1:handshake");
        if (!isHandshake || refused.length > 0) return pool.exchange(request);
        refused.push(request.target);
        throw new AgentError("overloaded", "no further session is accepted now");
      },
      close: () => pool.close(),
    };
    const peer = await world.connect(server.did, ann, { link });
    expect([peer.verified, refused.length]).toEqual([true, 1]);
    expect(await peer.ask("a")).toBe("got a");
  });

  test("ends with the last server of its identity, and not with one that was replaced", async () => {
    const { acceptedSessions } = await import("../../src/protocols/sage/session/accepted-sessions.js");
    const identity = await world.register();
    const options = { ...{ protocols: PROTOCOLS, identity, settings: SETTINGS, store: world.store }, port: 0 };
    const first = await serve(secretive, options);
    const peer = await world.connect(first.url, ann, { pin: "sage" });
    expect(await peer.ask("a")).toBe("got a");
    const { table } = acceptedSessions(identity);
    const second = await serve(secretive, options);
    await first.close();
    expect(table.size).toBe(1);
    expect(acceptedSessions(identity).table).toBe(table);
    // What is needed for a session does not come from the server that is closed.
    const other = await world.connect(second.url, await world.register(), { pin: "sage" });
    expect(await other.ask("b")).toBe("got b");
    expect(table.size).toBe(2);
    await second.close();
    expect(table.size).toBe(0);
    expect(() => acceptedSessions(identity)).toThrow("the session is closed");
    // Under the same identity later: new sessions, none of the old ones.
    const third = await serve(secretive, options);
    expect(acceptedSessions(identity).table.size).toBe(0);
    await third.close();
  });

  // Attack 16, in a session.
  test("ends when a key of its peer is revoked", async () => {
    const { identity: server } = await world.serve(secretive);
    const peer = await world.connect(server.did, ann);
    expect(await peer.ask("a")).toBe("got a");
    await world.submit(ann, {
      kind: "revoke",
      name:
        ann
          .keys()
          .find(({ kind }) => kind === "Ed25519")
          ?.id.split("#")[1] ?? "",
    });
    await expect(peer.ask("b")).rejects.toMatchObject({ facts: { detail: { error: expect.stringMatching(/^Err/) } } });
  });

  // Attack 14.
  test("once used, a message in clear from the same caller is refused", async () => {
    const { identity: server } = await world.serve(secretive);
    const peer = await world.connect(server.did, ann);
    expect(await peer.ask("a")).toBe("got a");
    const clear = await world.connect(server.did, ann, { settings: { sage: { ...SETTINGS.sage, seal: false } } });
    await expect(clear.ask("b")).rejects.toMatchObject({ code: "downgrade_refused" });
  });

  test("works where callers are admitted by their DID, right after a start", async () => {
    const admission = didSignatures({ dids: [ann.did] });
    const replay = createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });
    const { identity: server } = await world.serve(secretive, { admission, replay });
    const peer = await world.connect(server.did, ann);
    expect(await peer.ask("a")).toBe("got a");
    expect(await peer.ask("b")).toBe("got b");
    const eve = await world.register();
    const other = await world.connect(server.did, eve);
    await expect(other.ask("a")).rejects.toMatchObject({ code: expect.stringMatching(/unauthenticated|forbidden/) });
  });
});
