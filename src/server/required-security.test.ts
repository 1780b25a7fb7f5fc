import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Authority, makeAuthority, type Pair } from "../../test/certificates.js";
import { connect } from "../client/index.js";
import { ARRIVED_OVER_TLS, type Floor, type Layer, NO_FLOOR } from "../envelope/index.js";
import type { PolicyNote } from "../policies/index.js";
import { type AuditEntry, clientCertificates } from "../security/index.js";
import { agent } from "./agent.js";
import { type ServeOptions, type Server, serve } from "./serve.js";

let authority: Authority;
let pair: Pair;
beforeAll(async () => {
  authority = await makeAuthority();
  pair = await authority.issue({ hosts: ["127.0.0.1"] });
});

const opened: Server[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((server) => server.close()));
});

async function served(options: ServeOptions, require?: "identity" | "encrypted" | "signed"): Promise<Server> {
  const made = agent({ name: "echo", description: "", handle: ({ text }) => text, ...(require && { require: [require] }) });
  const server = await serve(made, options);
  opened.push(server);
  return server;
}

/** The floor of the calls that reach the agent. */
function recording(): { readonly floors: Floor[]; readonly layer: Layer } {
  const floors: Floor[] = [];
  return {
    floors,
    layer: (next) => (operation, call) => {
      if (operation.kind === "send") floors.push(call.floor);
      return next(operation, call);
    },
  };
}

async function post(url: string, path: string, body: unknown): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: await response.json() };
}

const SEND = { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "hi" }] } };

describe("the floor of a call", () => {
  it("is raised by TLS, and by nothing in clear text", async () => {
    const [tls, clear] = [recording(), recording()];
    const secure = await served({ tls: pair, layers: [tls.layer] });
    const open = await served({ layers: [clear.layer] });
    for (const [url, credentials] of [
      [secure.url, { tls: { ca: authority.ca } }],
      [open.url, {}],
    ] as const) {
      const peer = await connect(url, { credentials });
      expect(await peer.ask("hi")).toBe("hi");
      await peer.close();
    }
    expect([tls.floors, clear.floors]).toEqual([[ARRIVED_OVER_TLS], [NO_FLOOR]]);
    expect(tls.floors[0]?.encrypted).toBe(true);
  });
});

describe("an agent that requires security of its callers", () => {
  it("refuses in the form of each protocol, counted and audited", async () => {
    const notes: PolicyNote[] = [];
    const entries: AuditEntry[] = [];
    const audit = { record: (entry: AuditEntry) => void entries.push(entry), close: async () => undefined };
    const { url } = await served({ audit, notes: (note) => notes.push(note) }, "signed");
    const rpc = await post(url, "/a2a", { jsonrpc: "2.0", id: 1, method: "SendMessage", params: SEND });
    expect(rpc.body).toMatchObject({ error: { code: -32004, message: expect.stringContaining("only calls that are signed") } });
    const run = { agent_name: "echo", mode: "sync", input: [{ role: "user", parts: [{ content: "hi" }] }] };
    expect(await post(url, "/runs", run)).toMatchObject({ status: 400, body: { code: "invalid_input" } });
    const agora = { protocolHash: null, body: "hi", protocolSources: [] };
    expect(await post(url, "/", agora)).toMatchObject({ status: 422, body: { status: "error" } });
    expect(notes).toMatchObject(
      ["a2a", "acp", "agora"].map((protocol) => ({ kind: "floor", outcome: "refused", requirement: "signed", protocol })),
    );
    expect(entries.filter(({ event }) => event === "refused").map(({ code }) => code)).toEqual(
      Array.from({ length: 3 }, () => "downgrade_refused"),
    );
  });

  it("accepts unencrypted calls from this host only", async () => {
    const { url } = await served({}, "encrypted");
    const call = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: SEND };
    expect((await post(url, "/a2a", call)).body).toHaveProperty("result");
    const forwarded = await fetch(`${url}/a2a`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": "192.0.2.7" },
      body: JSON.stringify(call),
    });
    expect(await forwarded.json()).toMatchObject({ error: { code: -32004 } });
  });

  it("takes a client certificate as proof of identity, and a name alone not", async () => {
    const client = await authority.issue({ hosts: ["client"], client: true });
    const required = recording();
    const server = await served(
      { tls: { ...pair, clientCa: authority.ca }, admission: clientCertificates({}), layers: [required.layer] },
      "identity",
    );
    const peer = await connect(server.url, { credentials: { tls: { ca: authority.ca, ...client } } });
    expect(await peer.ask("hi")).toBe("hi");
    await peer.close();
    expect(required.floors).toMatchObject([{ identity: true, encrypted: true }]);
    const open = await served({}, "identity");
    const anybody = await connect(open.url);
    await expect(anybody.ask("hi")).rejects.toMatchObject({ message: expect.stringContaining("prove who the caller is") });
    await anybody.close();
  });
});
