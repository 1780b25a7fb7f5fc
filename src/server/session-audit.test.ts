import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { toy } from "../../test/toy/index.js";
import { AgentError, ownerOf, type Principal } from "../envelope/index.js";
import type { Protocol } from "../protocols/index.js";
import type { Admission, ProvenPeer } from "../security/admission.js";
import type { AuditEntry } from "../security/audit-entry.js";
import { bearerTokens, createHostCheck } from "../security/index.js";
import type { Link, Session } from "../transport/exchange.js";
import type { Limits } from "../transport/limits.js";
import { memoryLink } from "../transport/memory.js";
import { poolLink } from "../transport/node/index.js";
import { makeRequest } from "../transport/request.js";
import { agent } from "./agent.js";
import { assemble } from "./assemble.js";
import { CallerReach } from "./caller-reach.js";
import { mount } from "./mount.js";

const TOKENS = new Map([["ann", "token-of-ann-0123456789"]]);
const ANN = { authorization: "Bearer token-of-ann-0123456789" };
const ALLOWED = "did:toy:allowed";

/** A session is open until the client closes it. Where it proves, the first message is the DID of the peer. */
function dialogue(proves: boolean): Protocol {
  return {
    ...toy,
    id: "dialogue",
    routes: [{ method: "GET", path: "/dialogue", upgrade: [], proves }],
    serve: (host) => ({
      exchange: () => ({ status: 404, headers: {}, body: undefined }),
      interfaces: () => [],
      async accept(session) {
        for await (const did of session.frames) {
          try {
            await host.identify(session, { did: String(did), keyId: `${did}#key` });
            await session.send("welcome");
          } catch (thrown) {
            session.close(1008, AgentError.from(thrown).code);
          }
        }
      },
    }),
  };
}

const open: Link[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((link) => link.close()));
});

interface Audited {
  readonly entries: AuditEntry[];
  connect(headers?: { readonly [name: string]: string }, path?: string): Promise<Session>;
  /** Opens a session and names the peer. Returns its first answer, or why it was closed. */
  identify(did: string): Promise<string>;
}

function audited(options: { admission?: Admission; limits?: Partial<Limits>; proves?: boolean } = {}): Audited {
  const entries: AuditEntry[] = [];
  const assembled = assemble(
    [agent({ name: "words", description: "d", handle: () => "x" })],
    {
      protocols: [dialogue(options.proves ?? false)],
      admission: options.admission ?? bearerTokens(TOKENS),
      limits: options.limits ?? {},
      audit: { record: (entry) => void entries.push(entry), close: async () => undefined },
    },
    { reach: new CallerReach("loopback"), http2: false, sessions: true, ownPort: true },
  );
  assembled.checkHost = createHostCheck({ port: 80 });
  const link = memoryLink(assembled.intake);
  open.push(link);
  const connect: Audited["connect"] = async (headers = {}, path = "/dialogue") => {
    const request = makeRequest({ method: "GET", url: `ws://localhost${path}?key=s3cret`, headers });
    const session = await link.open?.(request, []);
    if (session === undefined) throw new Error("the link has no sessions");
    return session;
  };
  return {
    entries,
    connect,
    async identify(did) {
      const session = await connect();
      await session.send(did);
      for await (const frame of session.frames) return String(frame);
      return (await session.closed).reason;
    },
  };
}

describe("the audit log of sessions", () => {
  test("has the caller of an accepted session, like that of a request", async () => {
    const { entries, connect } = audited();
    await connect(ANN);
    await connect(ANN);
    expect(entries).toMatchObject([{ event: "authenticated", who: "ann", scheme: "bearer", what: "GET /dialogue" }]);
  });

  test("has one entry for a caller that is not admitted, now or later", async () => {
    const late: Admission = async () => {
      await null;
      throw new AgentError("unavailable", "the issuer is away");
    };
    const [now, later] = [audited(), audited({ admission: late })];
    await expect(now.connect()).rejects.toMatchObject({ code: "unauthenticated" });
    await expect(later.connect()).rejects.toMatchObject({ code: "unavailable" });
    expect(now.entries).toMatchObject([{ event: "refused", who: "unknown", what: "GET /dialogue", code: "unauthenticated" }]);
    expect(later.entries).toMatchObject([{ event: "refused", who: "unknown", code: "unavailable" }]);
    expect([now.entries.length, later.entries.length]).toEqual([1, 1]);
  });

  test("has one entry for a foreign host name or origin, whatever the credentials", async () => {
    for (const foreign of [{ host: "rebound.test" }, { origin: "https://page.test" }]) {
      const { entries, connect } = audited();
      await expect(connect({ ...ANN, ...foreign })).rejects.toMatchObject({ code: "forbidden" });
      expect(entries).toMatchObject([{ event: "refused", who: "unknown", what: "GET /dialogue", code: "forbidden" }]);
      expect(entries).toHaveLength(1);
    }
  });

  test("names the caller that has too many sessions, or that finds the server full", async () => {
    for (const limits of [{ sessionsPerCaller: 1 }, { sessions: 1 }]) {
      const { entries, connect } = audited({ limits });
      await connect(ANN);
      await expect(connect(ANN)).rejects.toBeInstanceOf(AgentError);
      expect(entries).toMatchObject([
        { event: "authenticated", who: "ann" },
        { event: "refused", who: "ann", scheme: "bearer", what: "GET /dialogue", code: "overloaded" },
      ]);
      expect(entries).toHaveLength(2);
    }
  });

  test("has one entry for a foreign origin at a mounted agent", async () => {
    const entries: AuditEntry[] = [];
    const mounted = mount(agent({ name: "words", description: "d", handle: () => "x" }), {
      sessions: true,
      protocols: [dialogue(false)],
      audit: { record: (entry) => void entries.push(entry), close: async () => undefined },
    });
    const server = createServer(mounted.listener).on("upgrade", (...event) => void mounted.upgrade(...event));
    const link = poolLink();
    try {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo; // it listens on a port
      const headers = { origin: "https://page.test" };
      const request = makeRequest({ method: "GET", url: `ws://127.0.0.1:${port}/dialogue`, headers });
      await expect(link.open?.(request, [])).rejects.toMatchObject({ code: "forbidden" });
      expect(entries).toMatchObject([{ event: "refused", who: "unknown", what: "GET /dialogue", remote: "127.0.0.1" }]);
      expect(entries).toHaveLength(1);
    } finally {
      await Promise.all([link.close(), mounted.close(), new Promise((resolve) => server.close(resolve))]);
    }
  });

  test("has no entry for a path without sessions, like that of a request", async () => {
    const { entries, connect } = audited();
    await expect(connect(ANN, "/nothing")).rejects.toBeInstanceOf(AgentError);
    expect(entries).toEqual([]);
  });
});

describe("the audit log of peers that prove their identity in a session", () => {
  const identify = ({ did }: ProvenPeer): Principal => {
    if (did !== ALLOWED) throw new AgentError("forbidden", "this DID is not allowed");
    return { id: did, scheme: "did", scopes: [], owner: ownerOf("did", did) };
  };
  const knowing: Admission = Object.assign(bearerTokens(TOKENS), { identify });

  test("has the admitted peer and the refused one", async () => {
    const { entries, identify: named } = audited({ admission: knowing, proves: true });
    expect(await named(ALLOWED)).toBe("welcome");
    expect(await named("did:toy:other")).toBe("forbidden");
    expect(entries).toMatchObject([
      { event: "authenticated", who: ALLOWED, scheme: "did", what: "GET /dialogue" },
      { event: "refused", who: "unknown", what: "GET /dialogue", code: "forbidden", reason: "this DID is not allowed" },
    ]);
    expect(entries).toHaveLength(2);
  });

  test("has a peer that is refused where no DID is admitted", async () => {
    const { entries, identify: named } = audited({ proves: true });
    expect(await named(ALLOWED)).toBe("forbidden");
    expect(entries).toMatchObject([{ event: "refused", who: "unknown", code: "forbidden" }]);
    expect(entries).toHaveLength(1);
  });

  test("names a peer that has too many sessions", async () => {
    const { entries, identify: named } = audited({ admission: knowing, proves: true, limits: { sessionsPerCaller: 1 } });
    expect(await named(ALLOWED)).toBe("welcome");
    expect(await named(ALLOWED)).toBe("overloaded");
    expect(entries.map(({ event, who, code }) => [event, who, code])).toEqual([
      ["authenticated", ALLOWED, undefined],
      ["refused", ALLOWED, "overloaded"],
    ]);
  });

  test("has an upgrade that is refused because too many wait for authentication", async () => {
    const { entries, connect } = audited({ admission: knowing, proves: true, limits: { sessionsUnadmitted: 1 } });
    await connect();
    await expect(connect()).rejects.toBeInstanceOf(AgentError);
    expect(entries).toMatchObject([{ event: "refused", who: "unknown", code: "overloaded" }]);
    expect(entries).toHaveLength(1);
  });
});
