import { type AddressInfo, connect as connectSocket } from "node:net";
import { connect, createServer, DEFAULT_CIPHERS, type TLSSocket } from "node:tls";
import { Agent, fetch as undiciFetch } from "undici";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Authority, makeAuthority, type Pair } from "../../../test/certificates.js";
import { Opened } from "../../../test/helpers/sockets.js";
import { AgentError } from "../../envelope/index.js";
import type { Exchange } from "../exchange.js";
import { makeRequest } from "../request.js";
import { type Listening, listen } from "./listen.js";
import { type PoolOptions, poolLink } from "./pool.js";

const HOSTS = ["localhost", "127.0.0.1"] as const;
const DAY_MS = 86_400_000;
/** What a peer without our rules offers. */
const WEAK_CIPHERS = `${DEFAULT_CIPHERS}:@SECLEVEL=0`;

const opened = new Opened();
afterEach(() => opened.close());

let authority: Authority;
let other: Authority;
let server: Pair;
let alice: Pair;
let bob: Pair;
beforeAll(async () => {
  [authority, other] = await Promise.all([makeAuthority(), makeAuthority("Another")]);
  [server, alice, bob] = await Promise.all([
    authority.issue({ hosts: HOSTS }),
    authority.issue({ hosts: ["alice"], client: true }),
    authority.issue({ hosts: ["bob"], client: true }),
  ]);
});

/** Whether the caller is known by its certificate, or why not. */
const whoami: Exchange = ({ connection }) => ({
  status: 200,
  headers: {},
  body: connection.clientCertificate === undefined ? `unknown ${connection.clientCertificateProblem}` : "known",
});

async function asSeen({ url }: Listening, pair?: Pair, more: { readonly ciphers?: string } = {}): Promise<string> {
  const dispatcher = new Agent({ connect: { ca: authority.ca, ...pair, ...more } });
  opened.add(() => dispatcher.destroy());
  return (await undiciFetch(url, { dispatcher })).text();
}

const expired = { thisUpdate: new Date(Date.now() - 9 * DAY_MS), nextUpdate: new Date(Date.now() - DAY_MS) };

describe("revoked client certificates", () => {
  test("do not identify their holder; others do", async () => {
    const crl = await authority.crl([bob]);
    const listening = await opened.serve(whoami, {}, { tls: { ...server, clientCa: authority.ca, crl } });
    expect(await asSeen(listening, alice)).toBe("known");
    expect(await asSeen(listening, bob)).toBe("unknown CERT_REVOKED");
    expect(await asSeen(listening)).toBe("unknown undefined");
  });

  test("are not let in where a certificate is required", async () => {
    const tls = { ...server, clientCa: authority.ca, clientCertificate: "require", crl: await authority.crl([bob]) } as const;
    const listening = await opened.serve(whoami, {}, { tls });
    expect(await asSeen(listening, alice)).toBe("known");
    await expect(asSeen(listening, bob)).rejects.toThrow("fetch failed");
  });

  test("are known by any of the lists of one text", async () => {
    const crl = `${await other.crl([])}\n${await authority.crl([bob])}`;
    const listening = await opened.serve(whoami, {}, { tls: { ...server, clientCa: authority.ca, crl } });
    expect(await asSeen(listening, alice)).toBe("known");
    expect(await asSeen(listening, bob)).toBe("unknown CERT_REVOKED");
  });

  test("a list that has expired, or of another authority, vouches for nobody", async () => {
    const [old, foreign] = await Promise.all([authority.crl([], expired), other.crl([])]);
    for (const [crl, problem] of [
      [old, "CRL_HAS_EXPIRED"],
      [foreign, "UNABLE_TO_GET_CRL"],
    ] as const) {
      const listening = await opened.serve(whoami, {}, { tls: { ...server, clientCa: authority.ca, crl } });
      expect(await asSeen(listening, alice)).toBe(`unknown ${problem}`);
    }
  });

  test("a new list counts for resumed sessions too", async () => {
    const tls = { ...server, clientCa: authority.ca, crl: await authority.crl([]) };
    const listening = await opened.serve(whoami, {}, { tls });
    const first = await askOnce(listening, bob);
    expect(first.body).toBe("known");
    expect(await askOnce(listening, bob, first.session)).toMatchObject({ body: "known", reused: true });
    listening.reload({ ...tls, crl: await authority.crl([bob]) });
    expect(await askOnce(listening, bob, first.session)).toMatchObject({ body: "unknown CERT_REVOKED", reused: false });
  });

  test("a list that cannot be used is refused with the reason", async () => {
    const tls = { ...server, clientCa: authority.ca };
    const listening = await opened.serve(whoami, {}, { tls });
    expect(() => listening.reload({ ...tls, crl: "nonsense" })).toThrow("TLS: the revocation list is not a PEM CRL");
    const crl = await authority.crl([]);
    await expect(listen(whoami, { port: 0, tls: { ...server, crl } })).rejects.toMatchObject({
      code: "invalid_message",
      message: expect.stringContaining("crl is set, but clientCa is not"),
    });
  });
});

describe("RSA keys under 2,048 bits", () => {
  test("are not served with", async () => {
    const weak = await authority.issue({ hosts: HOSTS, rsaBits: 1_024 });
    await expect(listen(whoami, { port: 0, tls: weak })).rejects.toMatchObject({
      code: "invalid_message",
      message: "TLS: the RSA key has fewer than 2048 bits",
    });
    const strong = await authority.issue({ hosts: HOSTS, rsaBits: 2_048 });
    expect(await asSeen(await opened.serve(whoami, {}, { tls: strong }))).toBe("unknown undefined");
  });

  test("do not identify a client", async () => {
    const weak = await authority.issue({ hosts: ["mallory"], client: true, rsaBits: 1_024 });
    const listening = await opened.serve(whoami, {}, { tls: { ...server, clientCa: authority.ca } });
    expect(await asSeen(listening, weak, { ciphers: WEAK_CIPHERS })).toBe("unknown UNSPECIFIED");
  });
});

describe("suites without forward secrecy", () => {
  test("are not agreed on, whatever the key of the server", async () => {
    const rsa = await authority.issue({ hosts: HOSTS, rsaBits: 2_048 });
    const listening = await opened.serve(whoami, {}, { tls: rsa });
    const agreed = (ciphers: string): Promise<string> =>
      new Promise((resolve) => {
        const tls = { ca: authority.ca, ciphers, maxVersion: "TLSv1.2" } as const;
        const socket = connect({ port: listening.port, host: "127.0.0.1", ...tls }, () => resolve(socket.getCipher().name));
        socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
        opened.add(() => socket.destroy());
      });
    expect(await agreed("ECDHE-RSA-AES128-GCM-SHA256")).toBe("ECDHE-RSA-AES128-GCM-SHA256");
    // RSA key transport, which a stolen key opens afterwards.
    // Versions of OpenSSL name the alert differently.
    expect(await agreed("AES128-GCM-SHA256")).toMatch(/ALERT_HANDSHAKE_FAILURE$/);
  });
});

describe.each([
  ["HTTP/1.1", "application/json"],
  ["HTTP/2", "application/grpc"],
  ["WebSocket", undefined],
])("a client, %s", (_, contentType) => {
  async function problem(url: string, tls: PoolOptions["tls"]): Promise<AgentError | "connected"> {
    const link = poolLink({ tls, connectTimeoutMs: 10_000 });
    opened.add(() => link.close());
    const sent =
      contentType === undefined
        ? link.open(makeRequest({ method: "GET", url: url.replace("https:", "wss:") }), [])
        : link.exchange(makeRequest({ method: "POST", url, headers: { "content-type": contentType }, body: "{}" }));
    return Promise.resolve(sent).then(
      () => "connected" as const,
      (thrown: unknown) => AgentError.from(thrown),
    );
  }

  /** A TLS server of Node's own, for what ours refuses to be. */
  async function foreign(pair: Pair): Promise<string> {
    const tlsServer = createServer({ ...pair, ciphers: WEAK_CIPHERS, ALPNProtocols: ["h2", "http/1.1"] }, (socket) =>
      socket.on("error", () => undefined).end(),
    );
    await new Promise<void>((resolve) => tlsServer.listen(0, "127.0.0.1", resolve));
    opened.add(() => tlsServer.close());
    return `https://127.0.0.1:${(tlsServer.address() as AddressInfo).port}`;
  }

  test("does not talk to a server whose certificate is revoked", async () => {
    const url = await foreign(server);
    const host = url.slice("https://".length);
    expect(await problem(url, { ca: authority.ca, crl: await authority.crl([server]) })).toMatchObject({
      code: "unavailable",
      message: `the certificate of ${host} is revoked (CERT_REVOKED)`,
      facts: { sent: "no" },
    });
  });

  test("by any of the lists of one text", async () => {
    const [url, lists] = [await foreign(server), Promise.all([other.crl([]), authority.crl([server])])];
    expect(await problem(url, { ca: authority.ca, crl: (await lists).join("\n") })).toMatchObject({
      message: expect.stringContaining("is revoked (CERT_REVOKED)"),
    });
  });

  test("nor to one that an expired list or one of another authority cannot vouch for", async () => {
    const url = await foreign(server);
    const [old, otherList] = await Promise.all([authority.crl([], expired), other.crl([])]);
    expect(await problem(url, { ca: authority.ca, crl: old })).toMatchObject({
      message: expect.stringContaining("revocation list of its issuer has expired; renew it (CRL_HAS_EXPIRED)"),
      facts: { sent: "no" },
    });
    expect(await problem(url, { ca: authority.ca, crl: otherList })).toMatchObject({
      message: expect.stringContaining("there is no revocation list of its issuer (UNABLE_TO_GET_CRL)"),
      facts: { sent: "no" },
    });
  });

  test("nor to one with a small RSA key", async () => {
    const url = await foreign(await authority.issue({ hosts: HOSTS, rsaBits: 1_024 }));
    expect(await problem(url, { ca: authority.ca })).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("has an RSA key with fewer than 2048 bits"),
      facts: { sent: "no" },
    });
  });

  test("refuses a list that is none before it connects", () => {
    expect(() => poolLink({ tls: { crl: "nonsense" } })).toThrow("TLS: the revocation list is not a PEM CRL");
  });
});

interface Once {
  readonly body: string;
  readonly session: Buffer;
  readonly reused: boolean;
}

/** One request on a connection of its own, with the TLS session of an earlier one. */
function askOnce({ port }: Listening, pair: Pair, session?: Buffer): Promise<Once> {
  return new Promise((resolve, reject) => {
    const raw = connectSocket(port, "127.0.0.1");
    opened.add(() => raw.destroy());
    const socket: TLSSocket = connect({ socket: raw, ca: authority.ca, host: "127.0.0.1", ...pair, ...(session && { session }) });
    let ticket: Buffer = Buffer.alloc(0);
    let text = "";
    let reused = false;
    socket.on("secureConnect", () => (reused = socket.isSessionReused()));
    socket.on("session", (given: Buffer) => (ticket = given));
    socket.on("error", reject);
    socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
    socket.on("close", () => resolve({ body: text.slice(text.indexOf("\r\n\r\n") + 4), session: ticket, reused }));
    socket.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
  });
}
