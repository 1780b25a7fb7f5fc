import "reflect-metadata";
import { createHash } from "node:crypto";
import { cryptoProvider, type JsonGeneralNames, SubjectAlternativeNameExtension, X509CertificateGenerator } from "@peculiar/x509";
import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { makeRequest } from "../transport/request.js";
import { clientCertificates, readAlternativeNames } from "./client-certificates.js";

const FROM = new Date("2026-01-01T00:00:00Z");
const UNTIL = new Date("2026-02-01T00:00:00Z");
const NOW = Date.parse("2026-01-15T00:00:00Z");
const now = () => NOW;

/** Made by another library, so that what is read was not written by what reads. */
async function certificate(name: string, names: JsonGeneralNames = []): Promise<Uint8Array> {
  cryptoProvider.set(crypto);
  const algorithm = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const made = await X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    notBefore: FROM,
    notAfter: UNTIL,
    signingAlgorithm: algorithm,
    extensions: names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)],
  });
  return new Uint8Array(made.rawData);
}

const showing = (clientCertificate: Uint8Array | undefined) =>
  makeRequest({
    method: "GET",
    url: "https://x/",
    connection: { remote: "::1", secure: true, loopback: true, clientCertificate },
  });
function refusal(run: () => unknown): AgentError {
  try {
    run();
  } catch (thrown) {
    return AgentError.from(thrown);
  }
  throw new Error("it was let in");
}
const SPIFFE = "spiffe://example.org/billing";

describe("clientCertificates()", () => {
  test.each([
    ["CERT_REVOKED", "the client certificate is revoked"],
    ["CRL_HAS_EXPIRED", "the client certificate cannot be verified: the revocation list of its authority has expired"],
    ["UNABLE_TO_GET_CRL", "the client certificate cannot be verified: there is no revocation list of its authority"],
    ["UNSPECIFIED", "the client certificate is not of a trusted authority, or its key is too small"],
  ])("says why a presented certificate is not accepted: %s", (clientCertificateProblem, message) => {
    const connection = { remote: "::1", secure: true, loopback: true, clientCertificateProblem };
    const request = makeRequest({ method: "GET", url: "https://x/", connection });
    expect(refusal(() => clientCertificates({ now })(request))).toMatchObject({ code: "unauthenticated", message });
  });

  test("names the holder by URI, else by DNS name, else by common name", async () => {
    const admit = clientCertificates({ now });
    const full = await certificate("CN=plain", [
      { type: "dns", value: "billing.example.org" },
      { type: "url", value: SPIFFE },
    ]);
    expect(admit(showing(full))).toEqual({ id: SPIFFE, scheme: "mtls", scopes: [], owner: `mtls:${SPIFFE}` });
    const dns = await certificate("CN=plain", [{ type: "dns", value: "billing.example.org" }]);
    expect(admit(showing(dns))).toMatchObject({ id: "billing.example.org" });
    expect(admit(showing(await certificate("CN=plain, O=Example")))).toMatchObject({ id: "CN=plain" });
    expect(admit.security).toEqual({ schemes: { mtls: { mtlsSecurityScheme: {} } }, anyOf: [{ mtls: [] }] });
  });

  test("a common name cannot pass for a URI", async () => {
    const posing = await certificate(`CN=${SPIFFE}`);
    expect(clientCertificates({ now })(showing(posing))).toMatchObject({ id: `CN=${SPIFFE}` });
    const admit = clientCertificates({ now, allow: { alternativeNames: [SPIFFE] } });
    expect(refusal(() => admit(showing(posing)))).toMatchObject({ code: "forbidden" });
  });

  test("admits only the listed certificates", async () => {
    const [one, other] = [await certificate("CN=one", [{ type: "dns", value: "one.example" }]), await certificate("CN=other")];
    const print = createHash("sha256").update(one).digest("hex");
    const colons = print.toUpperCase().replace(/..(?=.)/g, "$&:");
    for (const allow of [
      { fingerprints: [print] },
      { fingerprints: [colons] },
      { subjects: ["one"] },
      { alternativeNames: ["one.example"] },
    ]) {
      const admit = clientCertificates({ now, allow });
      expect(admit(showing(one))).toMatchObject({ id: "one.example" });
      expect(refusal(() => admit(showing(other)))).toMatchObject({ code: "forbidden" });
    }
    expect(refusal(() => clientCertificates({ now, allow: {} })(showing(one)))).toMatchObject({ code: "forbidden" });
  });

  test("rejects a missing, broken, future and expired certificate", async () => {
    const good = await certificate("CN=one");
    const say = (at: Date, der: Uint8Array | undefined) =>
      refusal(() => clientCertificates({ now: () => at.getTime() })(showing(der)));
    const soon = new Date(NOW);
    expect(say(soon, undefined)).toMatchObject({
      code: "unauthenticated",
      message: expect.stringContaining("requires a TLS client"),
    });
    expect(say(soon, new Uint8Array(9))).toMatchObject({ message: "the client certificate is unreadable" });
    expect(say(new Date(UNTIL.getTime() + 1_000), good)).toMatchObject({ message: "the client certificate has expired" });
    expect(say(new Date(FROM.getTime() - 1_000), good)).toMatchObject({ message: "the client certificate is not valid yet" });
  });
});

test("readAlternativeNames() is not fooled by a name that looks like two", () => {
  expect(readAlternativeNames("DNS:a.example, URI:http://b/, IP Address:127.0.0.1")).toEqual([
    { kind: "DNS", value: "a.example" },
    { kind: "URI", value: "http://b/" },
    { kind: "IP Address", value: "127.0.0.1" },
  ]);
  expect(readAlternativeNames('DNS:"evil.example, URI:spiffe://example.org/root"')).toEqual([
    { kind: "DNS", value: "evil.example, URI:spiffe://example.org/root" },
  ]);
  expect(readAlternativeNames("")).toEqual([]);
});
