import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, type RemoteAgent, type ServeOptions, serve } from "../src/index.js";
import { DEFAULT_LIMITS } from "../src/internal.js";
import { type AuditEntry, bearerTokens, createReplayGuard } from "../src/public/auth.js";
import { createIdentity, didSignatures, type Identity } from "../src/public/identity.js";
import { createMetrics, createTelemetry } from "../src/public/telemetry.js";
import { needsBody } from "../src/security/admission.js";
import { makeRequest } from "../src/transport/request.js";
import { type Authority, makeAuthority, type Pair } from "./certificates.js";
import { Hook } from "./push-hook.js";

/** What is pushed to a webhook has the security of the call that set it, or is not pushed. */

const TOKEN = "ann-token-0123456789";
/** Never dialled. */
const PUBLIC = "8.8.8.8";
const REFUSED = /FLOOR_REFUSED\{[^}]*dst_id="webhook"[^}]*\} 1/;
let authority: Authority;
let pair: Pair;
beforeAll(async () => {
  authority = await makeAuthority();
  pair = await authority.issue({ hosts: ["127.0.0.1", "localhost"] });
});

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(each: T): T {
  open.push(each);
  return each;
}

const echo = agent({
  name: "echo",
  description: "echoes",
  async *handle({ text }, task) {
    yield task.working();
    return text === "wait" ? task.ask("go on?") : "done";
  },
});
const replay = () => createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 });

interface Opened {
  readonly peer: RemoteAgent;
  readonly audit: readonly AuditEntry[];
  metrics(): string;
}

async function serving(
  options: ServeOptions,
  caller: { readonly identity?: Identity; readonly token?: string } = {},
): Promise<Opened> {
  const audit: AuditEntry[] = [];
  const telemetry = createTelemetry({ metrics: createMetrics() });
  const server = opened(
    await serve(echo, {
      audit: { record: (entry) => void audit.push(entry), close: async () => undefined },
      telemetry,
      ...options,
    }),
  );
  const peer = await connect(server.url, {
    ...(caller.identity === undefined ? {} : { identity: caller.identity }),
    discoveryCache: new DiscoveryCache(),
    credentials: { tls: { ca: authority.ca }, ...(caller.token === undefined ? {} : { bearer: caller.token }) },
    pin: "a2a@1.0",
  });
  return { peer: opened(peer), audit, metrics: () => telemetry.metricsText() };
}

async function freePort(): Promise<number> {
  const hook = await Hook.open();
  hook.close();
  return hook.port;
}

async function pushed(peer: RemoteAgent, url: string, text = "go"): Promise<string> {
  const event = await peer.send(text, { push: { taskId: "", id: "hook", url } });
  if (event.kind !== "task") throw new Error("a send with a webhook makes a task");
  return event.task.id;
}

const deliveryOf = async (peer: RemoteAgent, taskId: string) => (await peer.pushes(taskId))[0]?.delivery;

describe("a call that arrived over TLS", () => {
  test("is not pushed in clear text to a public address; the refusal is counted and audited", async () => {
    const admission = bearerTokens(new Map([["ann", TOKEN]]));
    const options = { tls: pair, admission, push: { resolve: async () => [PUBLIC] } };
    const { peer, audit, metrics } = await serving(options, { token: TOKEN });
    await expect(pushed(peer, "http://hooks.example/x")).rejects.toMatchObject({ code: "downgrade_refused" });
    expect(metrics()).toMatch(REFUSED);
    expect(audit.filter(({ code }) => code === "downgrade_refused")).toMatchObject([
      { event: "refused", who: "ann", scheme: "bearer", what: "a push notification without: encrypted" },
    ]);
  });

  test("is pushed over TLS, and in clear text within this host", async () => {
    const [secure, plain] = [opened(await Hook.open(undefined, pair)), opened(await Hook.open())];
    const { peer } = await serving({ tls: pair, push: { allow: ["127.0.0.1"], tls: { ca: authority.ca } } });
    await pushed(peer, `https://127.0.0.1:${secure.port}/hook`);
    await pushed(peer, plain.url);
    expect([(await secure.count(1)).length, (await plain.count(1)).length]).not.toContain(0);
  });

  test("is not pushed to a name that leads off this host later", async () => {
    const plain = opened(await Hook.open());
    let address = "127.0.0.1";
    const { peer, audit, metrics } = await serving({
      tls: pair,
      push: { allow: [`hooks.example:${plain.port}`], resolve: async () => [address] },
    });
    const taskId = await pushed(peer, `http://hooks.example:${plain.port}/x`, "wait");
    await plain.count(1);
    await expect.poll(async () => (await deliveryOf(peer, taskId))?.state).toBe("waiting");
    const before = plain.got.length;
    address = PUBLIC;
    await peer.send("go on", { task: taskId });
    await expect.poll(async () => (await deliveryOf(peer, taskId))?.state).toBe("gave_up");
    expect((await deliveryOf(peer, taskId))?.problem).toMatch(/^downgrade_refused: the call must be encrypted/);
    expect(plain.got.length).toBe(before);
    expect(metrics()).toMatch(REFUSED);
    expect(audit.filter(({ code }) => code === "downgrade_refused")).toMatchObject([{ who: "anonymous", scheme: "anonymous" }]);
  });
});

describe("a call of a verified DID", () => {
  const ann = createIdentity({ name: "ann", did: "key" });
  const admission = () => ({ admission: didSignatures({ dids: [ann.did] }), replay: replay() });

  test("is not pushed without a signature, also over TLS", async () => {
    const { peer } = await serving({ ...admission(), push: { resolve: async () => [PUBLIC] } }, { identity: ann });
    await expect(pushed(peer, "https://hooks.example/x")).rejects.toMatchObject({
      code: "downgrade_refused",
      facts: { detail: { requirement: "signed" } },
    });
  });

  test("is pushed over TLS, signed with the identity of the server", async () => {
    const port = await freePort();
    const own = createIdentity({ name: "own", did: `did:web:localhost%3A${port}` });
    const secure = opened(await Hook.open(undefined, pair));
    const { peer } = await serving(
      {
        ...admission(),
        identity: own,
        tls: pair,
        port,
        publicUrl: `https://localhost:${port}`,
        push: { allow: ["127.0.0.1"], tls: { ca: authority.ca } },
      },
      { identity: ann },
    );
    const url = `https://127.0.0.1:${secure.port}/hook`;
    await pushed(peer, url);
    const [first] = await secure.count(1);
    const headers = Object.fromEntries(Object.entries(first?.headers ?? {}).map(([name, value]) => [name, String(value)]));
    const request = makeRequest({ method: "POST", url, headers, body: first?.text ?? "" });
    const document = {
      id: own.did,
      keys: own.keys(),
      services: [],
      deactivated: false,
      successor: undefined,
      bytes: new Uint8Array(),
    };
    const decision = await didSignatures({ dids: [own.did] })(request, {
      target: url,
      resolver: { resolve: async () => ({ document, observedAt: Date.now() }), forget: () => undefined },
      replay: replay(),
      now: Date.now,
    });
    const outcome = needsBody(decision) ? await decision.complete(request.body) : decision;
    expect(outcome).toMatchObject({ principal: { id: own.did } });
  });
});
