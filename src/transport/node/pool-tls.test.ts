import { type AddressInfo, createServer as createNetServer, type Server } from "node:net";
import { createServer as createTlsServer, type TlsOptions as NodeTlsOptions } from "node:tls";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { makeAuthority, type Pair } from "../../../test/certificates.js";
import { Opened, type Secured, secured } from "../../../test/helpers/sockets.js";
import { AgentError } from "../../envelope/index.js";
import { wholeBody } from "../body.js";
import type { Exchange, HttpResponse } from "../exchange.js";
import { DEFAULT_LIMITS } from "../limits.js";
import { makeRequest } from "../request.js";
import { type PoolOptions, poolLink } from "./pool.js";

const opened = new Opened();
afterEach(() => opened.close());

let made: Secured;
let client: Pair;
beforeAll(async () => {
  made = await secured();
  client = await made.authority.issue({ hosts: ["alice"], client: true });
});

const exchange: Exchange = ({ connection }) => ({
  status: 200,
  headers: {},
  body: connection.clientCertificate === undefined ? "somebody" : "alice",
});

/** A TLS server of Node's own, for what ours refuses to be. */
async function foreign(options: NodeTlsOptions): Promise<string> {
  const server = createTlsServer({ ALPNProtocols: ["h2", "http/1.1"], ...options }, (socket) =>
    socket.on("error", () => undefined),
  );
  return `https://127.0.0.1:${await bound(server)}`;
}

async function bound(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.add(() => server.close());
  return (server.address() as AddressInfo).port;
}

describe.each([
  ["HTTP/1.1", "application/json"],
  ["HTTP/2", "application/grpc"],
])("poolLink over TLS, %s", (_, contentType) => {
  async function call(url: string, tls: PoolOptions["tls"]): Promise<HttpResponse> {
    const limits = { ...DEFAULT_LIMITS, drainMs: 50 };
    const link = poolLink({ limits, connectTimeoutMs: 3_000, headersTimeoutMs: 3_000, tls });
    opened.add(() => link.close());
    return link.exchange(makeRequest({ method: "POST", url, headers: { "content-type": contentType }, body: "{}" }));
  }

  async function problem(url: string, tls: PoolOptions["tls"] = { ca: made.authority.ca }): Promise<AgentError> {
    return call(url, tls).then(
      () => new AgentError("internal", "nothing was thrown"),
      (thrown: unknown) => AgentError.from(thrown),
    );
  }

  const textOf = async ({ body }: HttpResponse): Promise<string> => Buffer.from(await wholeBody(body, 1_000)).toString();

  test("a private authority, by address and by name, with and without a client certificate", async () => {
    const { url } = await opened.serve(exchange, {}, { tls: { ...made.pair, clientCa: made.authority.ca } });
    expect(await textOf(await call(url, { ca: made.authority.ca }))).toBe("somebody");
    expect(await textOf(await call(url, { ca: made.authority.ca, ...client }))).toBe("alice");
    expect(await textOf(await call(url.replace("127.0.0.1", "localhost"), { ca: made.authority.ca }))).toBe("somebody");
  });

  test("an authority that is not known", async () => {
    const { url } = await opened.serve(exchange, {}, { tls: made.pair });
    const error = await problem(url, { ca: (await makeAuthority("Another")).ca });
    expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(error.message).toContain(`the certificate of ${url.slice(8)} is issued by an unknown authority; configure its CA`);
  });

  test("another name: the error has both", async () => {
    const pair = await made.authority.issue({ hosts: ["agents.example"] });
    const { url } = await opened.serve(exchange, {}, { tls: pair });
    const error = await problem(url);
    expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(error.message).toContain(`is for agents.example, not for ${url.slice(8)}`);
  });

  test("expired, and not valid yet", async () => {
    const past = { notBefore: new Date("2020-01-01"), notAfter: new Date("2020-01-02") };
    const expired = await problem(await foreign(await made.authority.issue({ hosts: ["127.0.0.1"], ...past })));
    expect(expired).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(expired.message).toMatch(/^the certificate of 127.0.0.1:\d+ has expired \(CERT_HAS_EXPIRED\)$/);
    const future = { notBefore: new Date(Date.now() + 3_600_000), notAfter: new Date(Date.now() + 7_200_000) };
    const early = await problem(await foreign(await made.authority.issue({ hosts: ["127.0.0.1"], ...future })));
    expect(early.message).toMatch(/is not valid yet/);
    expect(early.facts.sent).toBe("no");
  });

  test("no version in common", async () => {
    const old = { minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" } as const;
    const error = await problem(await foreign({ ...made.pair, ...old }));
    expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(error.message).toContain("supports neither TLS 1.2 nor TLS 1.3");
  });

  test("a client certificate that is demanded, and one that is not trusted", async () => {
    const tls = { ...made.pair, clientCa: made.authority.ca, clientCertificate: "require" } as const;
    const { url } = await opened.serve(exchange, {}, { tls });
    const stranger = await (await makeAuthority("Another")).issue({ hosts: ["mallory"], client: true });
    for (const pair of [undefined, stranger]) {
      const error = await problem(url, { ca: made.authority.ca, ...pair });
      // A server that does not trust a certificate may close before its alert is read.
      expect(["unauthenticated", "unavailable"]).toContain(error.code);
      expect(error.message).toContain("client certificate");
    }
    expect(await textOf(await call(url, { ca: made.authority.ca, ...client }))).toBe("alice");
  });

  test("http at an https port, and the reverse", async () => {
    const clear = await opened.serve(exchange);
    const error = await problem(clear.url.replace("http:", "https:"));
    expect(error).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    expect(error.message).toContain("does not speak TLS; try http:// instead of https://");
    const silent = createNetServer((socket) => socket.on("error", () => undefined).end());
    const cut = await problem(`https://127.0.0.1:${await bound(silent)}`);
    expect(cut).toMatchObject({ code: "unavailable", facts: { sent: "no" } });
    const secure = await opened.serve(exchange, {}, { tls: made.pair });
    const reverse = secure.url.replace("https:", "http:");
    if (contentType === "application/json") expect((await call(reverse, {})).status).toBe(400);
    else expect(await problem(reverse)).toMatchObject({ code: "bad_peer", facts: { sent: "no" } });
  });
});

test("gRPC needs a peer that offers HTTP/2", async () => {
  const link = poolLink({ tls: { ca: made.authority.ca } });
  opened.add(() => link.close());
  const headers = { "content-type": "application/grpc" };
  for (const ALPNProtocols of [["http/1.1"], undefined]) {
    const url = await foreign({ ...made.pair, ALPNProtocols: ALPNProtocols ?? [] });
    const error = await Promise.resolve(link.exchange(makeRequest({ method: "POST", url, headers }))).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "bad_peer", facts: { sent: "no" } });
    expect(String(error)).toContain("does not offer HTTP/2");
  }
});
