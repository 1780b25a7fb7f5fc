import { request } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { connect, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, test } from "vitest";
import { makeAuthority } from "../../../test/certificates.js";
import { DEFAULT_LIMITS } from "../limits.js";
import { type ListenOptions, listen } from "./listen.js";
import { ProxyTrust, type TrustedProxies } from "./trusted-proxies.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A port that answers every request with the address and the locality of its caller. */
async function serving(trustedProxies: TrustedProxies | undefined, more: Partial<ListenOptions> = {}): Promise<number> {
  const listening = await listen(
    ({ connection: { remote, loopback } }) => ({ status: 200, headers: {}, body: `${remote} ${loopback}` }),
    { port: 0, trustedProxies, limits: { ...DEFAULT_LIMITS, drainMs: 0 }, ...more },
  );
  closing.push(() => listening.close());
  return listening.port;
}

function ask(port: number, headers: { readonly [name: string]: string | string[] } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", headers, agent: false }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk))).on("end", () => resolve(text));
    })
      .on("error", reject)
      .end();
  });
}

const LOCAL = ["127.0.0.1"];

describe("a caller's address", () => {
  test("is the socket's without trusted proxies; a forwarding header only ends locality", async () => {
    const port = await serving(undefined);
    expect(await ask(port)).toBe("127.0.0.1 true");
    expect(await ask(port, { "x-forwarded-for": "203.0.113.7" })).toBe("127.0.0.1 false");
  });

  test("is the socket's if another proxy is trusted", async () => {
    const port = await serving({ addresses: ["10.0.0.0/8", "::1"] });
    expect(await ask(port, { "x-forwarded-for": "203.0.113.7" })).toBe("127.0.0.1 false");
  });

  test.each([
    ["203.0.113.7", "203.0.113.7"],
    ["evil, 198.51.100.1, 203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:51000", "203.0.113.7"],
    ["[2001:db8::7]:51000", "2001:db8::7"],
    ["2001:db8::7", "2001:db8::7"],
    ["unknown", "127.0.0.1"],
    ["203.0.113.7, ", "127.0.0.1"],
    ["203.0.113.256", "127.0.0.1"],
    ["127.0.0.1", "127.0.0.1"],
  ])("is what the trusted proxy appended to X-Forwarded-For: %s", async (field, caller) => {
    expect(await ask(await serving({ addresses: LOCAL }), { "x-forwarded-for": field })).toBe(`${caller} false`);
  });

  test("of a proxy that adds no header is not local either", async () => {
    expect(await ask(await serving({ addresses: LOCAL }))).toBe("127.0.0.1 false");
  });

  test("comes from the configured header only: the proxy passes the others on as callers wrote them", async () => {
    const both = { "x-forwarded-for": "203.0.113.7", forwarded: "for=198.51.100.1", "x-real-ip": "192.0.2.1" };
    expect(await ask(await serving({ addresses: LOCAL }), both)).toBe("203.0.113.7 false");
    expect(await ask(await serving({ addresses: LOCAL, by: "forwarded" }), both)).toBe("198.51.100.1 false");
  });

  // The examples of RFC 7239 §4 and §7.1, and what an attacker would put before them.
  test.each([
    ['For="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17"],
    ["for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60"],
    ["for=192.0.2.43, for=198.51.100.17", "198.51.100.17"],
    ['for="_gazonk"', "127.0.0.1"],
    ['for="192.0.2.1, for=192.0.2.2", for=198.51.100.17;by="a;b,c"', "198.51.100.17"],
    ['for=192.0.2.1", for=198.51.100.17', "127.0.0.1"],
    ["for=192.0.2.1, proto=http", "127.0.0.1"],
    ["for = 192.0.2.1", "127.0.0.1"],
  ])("is what the trusted proxy appended to Forwarded: %s", async (field, caller) => {
    expect(await ask(await serving({ addresses: LOCAL, by: "forwarded" }), { forwarded: field })).toBe(`${caller} false`);
  });

  test("passes at most `hops` proxies, all of them trusted", () => {
    const chain = { "x-forwarded-for": "192.0.2.9, 203.0.113.7, 10.0.0.2, 10.0.0.1" };
    const callerBy = (hops: number, addresses = ["127.0.0.1", "10.0.0.0/8"]) =>
      new ProxyTrust({ addresses, hops }).callerOf("127.0.0.1", chain);
    expect([1, 2, 3, 4].map((hops) => callerBy(hops))).toEqual(["10.0.0.1", "10.0.0.2", "203.0.113.7", "203.0.113.7"]);
    expect(callerBy(3, ["127.0.0.1", "10.0.0.2"])).toBe("10.0.0.1");
  });

  test("knows IPv4 in IPv6 spelling, and networks", () => {
    const trust = new ProxyTrust({ addresses: ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32"] });
    expect(["10.255.0.1", "::ffff:10.1.2.3", "192.0.2.1", "2001:db8:1::1"].map((each) => trust.trusts(each))).not.toContain(
      false,
    );
    expect(["11.0.0.1", "192.0.2.2", "2001:db9::1", "", undefined].map((each) => trust.trusts(each))).not.toContain(true);
  });

  test.each([
    [{ addresses: [] }, /addresses is empty/],
    [{ addresses: ["proxy.example"] }, /"proxy\.example"/],
    [{ addresses: ["10.0.0.0/33"] }, /10\.0\.0\.0\/33/],
    [{ addresses: ["10.0.0.0/8/8"] }, /10\.0\.0\.0\/8\/8/],
    [{ addresses: LOCAL, hops: 0 }, /hops must be/],
    [{ addresses: LOCAL, hops: 1.5 }, /hops must be/],
    [{ addresses: LOCAL, by: "proxy-protocol", hops: 2 }, /hops must be 1/],
  ] as const)("is not looked for with invalid options %j", (options, message) => {
    expect(() => new ProxyTrust(options)).toThrow(message);
  });
});

/** A PROXY v2 header by its specification, §2.2. */
function header(versionAndCommand: number, family: number, block: readonly number[], length = block.length): Buffer {
  const signature = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a];
  return Buffer.from([...signature, versionAndCommand, family, length >> 8, length & 255, ...block]);
}
const PORTS = [0xc0, 0x00, 0x01, 0xbb];
const TCP4 = header(0x21, 0x11, [203, 0, 113, 7, 192, 0, 2, 1, ...PORTS]);
const V6 = [0x20, 0x01, 0x0d, 0xb8, ...new Array<number>(11).fill(0), 7];
const TCP6 = header(0x21, 0x21, [...V6, ...V6, ...PORTS]);
const EXTENSION = [0x04, 0x00, 0x02, 0xaa, 0xbb];
const REQUEST = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
const BY_PROXY: TrustedProxies = { addresses: LOCAL, by: "proxy-protocol" };

/** Everything the server sends until it closes. */
function raw(port: number, ...pieces: readonly (Buffer | string)[]): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket: Socket = connect(port, "127.0.0.1", async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((done) => setImmediate(done));
      }
    });
    socket.on("data", (chunk) => (text += String(chunk))).on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
}
const bodyOf = (response: string): string => response.split("\r\n\r\n")[1]?.split("\r\n").at(-1) ?? "";

describe("PROXY protocol v2", () => {
  test.each([
    ["IPv4", TCP4, "203.0.113.7 false"],
    ["IPv6", TCP6, "2001:db8::7 false"],
    ["extensions", header(0x21, 0x11, [203, 0, 113, 7, 192, 0, 2, 1, ...PORTS, ...EXTENSION]), "203.0.113.7 false"],
    ["LOCAL, the proxy's own connection", header(0x20, 0x00, []), "127.0.0.1 false"],
    ["LOCAL with a block, which is skipped", header(0x20, 0x11, [1, 2, 3]), "127.0.0.1 false"],
    ["a caller that claims to be local", header(0x21, 0x11, [127, 0, 0, 1, 127, 0, 0, 1, ...PORTS]), "127.0.0.1 false"],
  ])("states the caller's address: %s", async (_name, bytes, caller) => {
    const port = await serving(BY_PROXY);
    expect(bodyOf(await raw(port, Buffer.concat([bytes, Buffer.from(REQUEST)])))).toBe(caller);
    // In pieces, split inside the signature, the length and the block.
    expect(bodyOf(await raw(port, bytes.subarray(0, 5), bytes.subarray(5, 15), bytes.subarray(15), REQUEST))).toBe(caller);
  });

  test.each([
    ["no header", Buffer.alloc(0)],
    ["version 1", Buffer.from("PROXY TCP4 203.0.113.7 192.0.2.1 49152 443\r\n")],
    ["another version", header(0x11, 0x11, [...TCP4.subarray(16)])],
    ["an unknown command", header(0x22, 0x11, [...TCP4.subarray(16)])],
    ["an unspecified family", header(0x21, 0x00, [...TCP4.subarray(16)])],
    ["datagrams", header(0x21, 0x12, [...TCP4.subarray(16)])],
    ["a Unix socket", header(0x21, 0x31, new Array<number>(216).fill(0))],
    ["a block too short for its family", header(0x21, 0x21, [...TCP4.subarray(16)])],
    ["an extension that is cut", header(0x21, 0x11, [...TCP4.subarray(16), 0x04, 0x00, 0x09, 0xaa])],
    ["a block above the limit", header(0x21, 0x11, [...TCP4.subarray(16)], 0xffff)],
    ["a wrong signature", Buffer.concat([Buffer.from("\r\n\r\n\0\r\nQUIX\n", "latin1"), TCP4.subarray(12)])],
  ])("from a trusted proxy must be valid: %s", async (_name, bytes) => {
    expect(await raw(await serving(BY_PROXY), Buffer.concat([bytes, Buffer.from(REQUEST)]))).toBe("");
  });

  test("of a proxy that stays silent is not waited for", async () => {
    const port = await serving(BY_PROXY, { limits: { ...DEFAULT_LIMITS, drainMs: 0, firstByteMs: 100 } });
    expect(await raw(port)).toBe("");
    expect(await raw(port, TCP4.subarray(0, 20))).toBe("");
    expect(await raw(port, TCP4)).toBe("");
  });

  test("from an untrusted socket is refused; without it the socket is a plain caller", async () => {
    const port = await serving({ addresses: ["10.0.0.0/8"], by: "proxy-protocol" });
    expect(await raw(port, Buffer.concat([TCP4, Buffer.from(REQUEST)]))).toMatch(/^HTTP\/1\.1 400 /);
    expect(bodyOf(await raw(port, REQUEST))).toBe("127.0.0.1 true");
  });

  test("is refused where it is not configured", async () => {
    expect(await raw(await serving(undefined), Buffer.concat([TCP4, Buffer.from(REQUEST)]))).toMatch(/^HTTP\/1\.1 400 /);
  });

  test("states the address; forwarding headers do not", async () => {
    const forged = REQUEST.replace("host: x", "host: x\r\nx-forwarded-for: 192.0.2.1\r\nforwarded: for=192.0.2.1");
    expect(bodyOf(await raw(await serving(BY_PROXY), TCP4, forged))).toBe("203.0.113.7 false");
  });

  test("precedes TLS and HTTP/2", async () => {
    const authority = await makeAuthority();
    const port = await serving(BY_PROXY, { tls: await authority.issue({ hosts: ["127.0.0.1"] }) });
    for (const protocol of ["h2", "http/1.1"]) {
      const socket = connect(port, "127.0.0.1");
      socket.write(TCP6);
      const secured = connectTls({ socket, ca: authority.ca, host: "127.0.0.1", ALPNProtocols: [protocol] });
      closing.push(() => secured.destroy());
      if (protocol === "http/1.1") {
        let text = "";
        secured.write(REQUEST);
        await new Promise<void>((done) => secured.on("data", (chunk) => (text += String(chunk))).on("close", () => done()));
        expect(bodyOf(text)).toBe("2001:db8::7 false");
        continue;
      }
      const session = connectHttp2("https://127.0.0.1", { createConnection: () => secured });
      closing.push(() => session.destroy());
      const stream = session.request({ ":path": "/" });
      let text = "";
      await new Promise<void>((done, fail) =>
        stream
          .on("data", (chunk) => (text += String(chunk)))
          .on("end", done)
          .on("error", fail),
      );
      expect(text).toBe("2001:db8::7 false");
    }
  });
});
