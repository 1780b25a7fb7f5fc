import { X509Certificate } from "node:crypto";
import { get, request as httpsRequest } from "node:https";
import { type ConnectionOptions, connect, type TLSSocket } from "node:tls";
import { Agent, fetch as undiciFetch } from "undici";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeAuthority, type Pair } from "../../../test/certificates.js";
import { answerOf, ask, gate, Opened, type Secured, secured } from "../../../test/helpers/sockets.js";
import type { AgentError } from "../../envelope/index.js";
import type { Connection, Exchange, HttpRequest } from "../exchange.js";
import { type Listening, listen } from "./listen.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
beforeAll(async () => {
  made = await secured();
});

const name: Exchange = (request) => ({ status: 200, headers: {}, body: `${request.method} ${request.target}` });

/** A handshake of any kind: the socket once it is secure, or the error's code. */
async function handshake({ port }: Listening, options: ConnectionOptions): Promise<TLSSocket | string> {
  const socket = connect({ port, host: "127.0.0.1", ca: made.authority.ca, ...options });
  opened.add(() => socket.destroy());
  return new Promise((resolve) => {
    socket.on("secureConnect", () => resolve(socket));
    socket.on("error", (error: NodeJS.ErrnoException) => resolve(String(error.code)));
  });
}

const serialOf = (socket: TLSSocket | string): string | undefined =>
  typeof socket === "string" ? socket : socket.getPeerX509Certificate()?.serialNumber;

describe("listen under TLS", () => {
  test("uses HTTP/1.1 or HTTP/2, depending on the client", async () => {
    const server = await opened.serve(name, {}, { tls: made.pair });
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
    expect((await ask(await opened.session(server, made.authority.ca), { ":path": "/2" })).body).toBe(`GET ${server.url}/2`);
    const text = await new Promise<string>((resolve) => {
      get(`${server.url}/1`, { ca: made.authority.ca }, (response) => response.on("data", (piece) => resolve(String(piece))));
    });
    expect(text).toBe(`GET ${server.url}/1`);
    for (const allowH2 of [true, false]) {
      const dispatcher = new Agent({ allowH2, connect: { ca: made.authority.ca } });
      opened.add(() => dispatcher.destroy());
      const response = await undiciFetch(`${server.url}/u`, { method: "POST", body: "x", dispatcher });
      expect(await response.text()).toBe(`POST ${server.url}/u`);
    }
  });

  test("TLS 1.2 is the floor", async () => {
    const server = await opened.serve(name, {}, { tls: made.pair });
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    expect(await handshake(server, old)).toBe("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
    expect(typeof (await handshake(server, { maxVersion: "TLSv1.2" }))).toBe("object");
  });

  test("plain HTTP gets an explanation; TLS on a plain port is closed", async () => {
    const server = await opened.serve(name, {}, { tls: made.pair });
    const response = await fetch(server.url.replace("https", "http"));
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("use https:// instead of http://")]);
    expect(await handshake(await opened.serve(name), {})).toMatch(/^ERR_SSL_|ECONNRESET/);
  });

  test("a handshake that does not go on is ended, and does not hold up a shutdown", async () => {
    const server = await opened.serve(name, { headersMs: 60 }, { tls: made.pair });
    const slow = await opened.dial(server);
    slow.socket.write(Buffer.from([0x16, 3, 1]));
    await slow.closed;
    const patient = await opened.serve(name, { drainMs: 60_000 }, { tls: made.pair });
    const halfway = await opened.dial(patient);
    halfway.socket.write(Buffer.from([0x16, 3, 1]));
    const kept = await handshake(patient, { ALPNProtocols: ["h2"] });
    expect(typeof kept).toBe("object");
    await patient.close();
    await halfway.closed;
  });
});

describe("client certificates", () => {
  let client: Pair;
  let stranger: Pair;
  beforeAll(async () => {
    client = await made.authority.issue({ hosts: ["alice"], client: true });
    stranger = await (await makeAuthority("Another")).issue({ hosts: ["mallory"], client: true });
  });

  async function seenWith(server: Listening, last: () => Connection | undefined, pair?: Pair): Promise<Uint8Array | undefined> {
    const dispatcher = new Agent({ connect: { ca: made.authority.ca, ...pair } });
    opened.add(() => dispatcher.destroy());
    await (await undiciFetch(server.url, { dispatcher })).text();
    return last()?.clientCertificate;
  }

  test("are presented only if the CA issued them", async () => {
    let last: HttpRequest | undefined;
    const exchange: Exchange = (request) => {
      last = request;
      return { status: 200, headers: {}, body: "ok" };
    };
    const server = await opened.serve(exchange, {}, { tls: { ...made.pair, clientCa: made.authority.ca } });
    const shown = await seenWith(server, () => last?.connection, client);
    expect(shown).toEqual(new X509Certificate(client.cert).raw);
    expect(await seenWith(server, () => last?.connection, stranger)).toBeUndefined();
    expect(await seenWith(server, () => last?.connection)).toBeUndefined();
    expect(last?.connection.secure).toBe(true);
    const careless = await opened.serve(exchange, {}, { tls: made.pair });
    expect(await seenWith(careless, () => last?.connection, client)).toBeUndefined();
  });

  test("are shown on HTTP/2 too", async () => {
    let last: Connection | undefined;
    const server = await opened.serve(
      (request) => {
        last = request.connection;
        return { status: 200, headers: {}, body: "ok" };
      },
      {},
      { tls: { ...made.pair, clientCa: made.authority.ca } },
    );
    const dispatcher = new Agent({ allowH2: true, connect: { ca: made.authority.ca, ...client } });
    opened.add(() => dispatcher.destroy());
    await (await undiciFetch(server.url, { dispatcher })).text();
    expect(last?.clientCertificate).toEqual(new X509Certificate(client.cert).raw);
  });

  test("a resumed session without a certificate shows none", async () => {
    let last: Connection | undefined;
    const server = await opened.serve(
      (request) => {
        last = request.connection;
        return { status: 200, headers: {}, body: "ok" };
      },
      {},
      { tls: { ...made.pair, clientCa: made.authority.ca } },
    );
    const call = (session?: Buffer): Promise<{ session: Buffer; reused: boolean }> =>
      new Promise((resolve) => {
        const req = httpsRequest(server.url, { ca: made.authority.ca, agent: false, ...(session && { session }) });
        let got: Buffer | undefined;
        req.on("socket", (socket) => socket.on("session", (ticket: Buffer) => (got = ticket)));
        req.on("response", (response) => {
          const reused = (req.socket as TLSSocket).isSessionReused();
          response.resume().on("end", () => resolve({ session: got ?? Buffer.alloc(0), reused }));
        });
        req.end();
      });
    const { session } = await call();
    expect((await call(session)).reused).toBe(true);
    expect(last?.clientCertificate).toBeUndefined();
  });

  test("can be demanded", async () => {
    const tls = { ...made.pair, clientCa: made.authority.ca, clientCertificate: "require" } as const;
    const server = await opened.serve(name, {}, { tls });
    const reach = async (pair?: Pair): Promise<number | string> => {
      const dispatcher = new Agent({ connect: { ca: made.authority.ca, ...pair } });
      opened.add(() => dispatcher.destroy());
      return undiciFetch(server.url, { dispatcher }).then(
        ({ status }) => status,
        () => "refused",
      );
    };
    expect(await Promise.all([reach(client), reach(stranger), reach()])).toEqual([200, "refused", "refused"]);
  });
});

describe("reload", () => {
  test("new connections get the new certificate, an open stream continues", async () => {
    const more = gate();
    async function* events() {
      yield "1";
      await more.passed;
      yield "2";
    }
    const server = await opened.serve(() => ({ status: 200, headers: {}, body: events() }), {}, { tls: made.pair });
    const before = serialOf(await handshake(server, {}));
    const session = await opened.session(server, made.authority.ca);
    const stream = session.request({});
    const answer = answerOf(stream);
    await new Promise((resolve) => stream.once("data", resolve));
    const renewed = await made.authority.issue({ hosts: ["127.0.0.1"] });
    server.reload(renewed);
    const after = serialOf(await handshake(server, {}));
    expect([before, after]).toEqual([made.pair, renewed].map(({ cert }) => new X509Certificate(cert).serialNumber));
    more.open();
    expect(await answer).toMatchObject({ body: "12", rstCode: 0 });
  });

  test("a pair that cannot be used is refused with the reason, and the old one stays", async () => {
    const server = await opened.serve(name, {}, { tls: made.pair });
    const other = await made.authority.issue({ hosts: ["127.0.0.1"] });
    const past = new Date("2020-01-02T00:00:00Z");
    const old = await made.authority.issue({ hosts: ["127.0.0.1"], notBefore: new Date("2020-01-01"), notAfter: past });
    const bad: readonly (readonly [Parameters<Listening["reload"]>[0], string])[] = [
      [{ cert: made.pair.cert, key: other.key }, "TLS: the key does not match the certificate"],
      [{ cert: "nonsense", key: other.key }, "TLS: the certificate is not a PEM certificate"],
      [{ cert: other.cert, key: "nonsense" }, "TLS: the key is not a PEM private key"],
      [old, "TLS: the certificate expired at 2020-01-02T00:00:00.000Z"],
      [{ ...other, clientCa: "nonsense" }, "TLS: whether clients are asked"],
    ];
    for (const [pair, message] of bad) {
      const thrown = await Promise.resolve()
        .then(() => server.reload(pair))
        .catch((error: AgentError) => error);
      expect(thrown).toMatchObject({ code: "invalid_message", message: expect.stringContaining(message) });
      if (!("clientCa" in pair)) {
        const refused = await listen(name, { port: 0, tls: pair }).catch((error: AgentError) => error);
        expect(refused).toMatchObject({ code: "invalid_message", message });
      }
    }
    expect(serialOf(await handshake(server, {}))).toBe(new X509Certificate(made.pair.cert).serialNumber);
    expect(() => server.reload(other)).not.toThrow();
  });

  test("needs TLS, and asking clients needs an authority", async () => {
    const server = await opened.serve(name);
    expect(() => server.reload(made.pair)).toThrow("opened without TLS");
    const thrown = await listen(name, { port: 0, tls: { ...made.pair, clientCertificate: "require" } }).catch(
      (error: AgentError) => error,
    );
    expect(thrown).toMatchObject({ code: "invalid_message", message: expect.stringContaining("clientCa") });
  });
});
