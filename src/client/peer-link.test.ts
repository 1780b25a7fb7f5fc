import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TLSSocket } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { type Authority, makeAuthority } from "../../test/certificates.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { makeRequest } from "../transport/request.js";
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
