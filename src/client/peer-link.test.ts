import { createServer as createClearServer } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { type Authority, makeAuthority } from "../../test/certificates.js";
import { floorOf, startCall } from "../envelope/index.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { makeRequest } from "../transport/request.js";
import { permitClearText } from "./clear-text.js";
import { peerLink } from "./peer-link.js";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Asks everybody for a certificate, lets everybody in, and says which names it saw. */
async function asking(authority: Authority): Promise<string> {
  const pair = await authority.issue({ hosts: ["127.0.0.1"] });
  const server = createServer(
    { ...pair, ca: authority.ca, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate(); // a TLS server's sockets are TLS sockets
      response.end(subject?.CN ?? "nobody");
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("the client certificate is presented at the configured address only", async () => {
  const authority = await makeAuthority();
  const [own, other] = await Promise.all([asking(authority), asking(authority)]);
  const ours = await authority.issue({ hosts: ["ann.example"], client: true });
  const link = peerLink(`${own}/agent`, DEFAULT_LIMITS, { ca: authority.ca, ...ours });
  cleanups.push(() => link.close());
  const seenAt = async (url: string): Promise<string> => {
    const { body } = await link.exchange(makeRequest({ method: "GET", url }));
    return Buffer.from(body as Uint8Array).toString(); // not an event stream, so it came whole
  };
  expect(await seenAt(`${own}/a2a`)).toBe("ann.example");
  expect(await seenAt(`${other}/a2a`)).toBe("nobody");
});

test("addresses from a card are guarded, configured ones are not", async () => {
  const link = peerLink("http://93.184.216.34", DEFAULT_LIMITS, undefined);
  cleanups.push(() => link.close());
  await expect(link.exchange(makeRequest({ method: "GET", url: "http://127.0.0.1:9/" }))).rejects.toMatchObject({
    code: "forbidden",
    facts: { sent: "no" },
  });
  const local = peerLink("http://127.0.0.1:9", DEFAULT_LIMITS, undefined);
  cleanups.push(() => local.close());
  await expect(local.exchange(makeRequest({ method: "GET", url: "http://127.0.0.1:9/" }))).rejects.toMatchObject({
    code: "unavailable",
  });
});

const encrypted = startCall({ floor: floorOf(["encrypted"]) });

test.each([
  ["the configured address", "http://10.9.9.9:9", "http://10.9.9.9:9/a2a", encrypted],
  ["an address that a card was rewritten to", "https://gw.example", "http://10.9.9.9:9/a2a", encrypted],
  ["an address that the peer named", "http://10.9.9.9:9", "http://10.9.9.8:9/a2a", permitClearText(encrypted, "private")],
  ["a public address", "http://192.0.3.1:9", "http://192.0.3.1:9/a2a", permitClearText(encrypted, "private")],
])("a call that must be encrypted is not sent in clear text to %s", async (_, own, target, call) => {
  const link = peerLink(own, DEFAULT_LIMITS, undefined);
  cleanups.push(() => link.close());
  const refused = { code: "downgrade_refused", facts: { sent: "no" } };
  await expect(link.exchange(makeRequest({ method: "GET", url: target, call }))).rejects.toMatchObject(refused);
  const session = makeRequest({ method: "GET", url: target.replace("http", "ws"), call });
  await expect(link.open?.(session, [])).rejects.toMatchObject(refused);
});

test("a call that must be encrypted passes where it stays on this host", async () => {
  const server = createClearServer((_, response) => response.end("here"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  for (const host of ["127.0.0.1", "localhost"]) {
    const url = `http://${host}:${(server.address() as AddressInfo).port}`;
    const link = peerLink(url, DEFAULT_LIMITS, undefined);
    const { body } = await link.exchange(makeRequest({ method: "GET", url, call: encrypted }));
    expect(Buffer.from(body as Uint8Array).toString()).toBe("here"); // not an event stream, so it came whole
    await link.close();
  }
});
