import type { webcrypto } from "node:crypto";
import "reflect-metadata";
import {
  BasicConstraintsExtension,
  cryptoProvider,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
  X509CrlGenerator,
} from "@peculiar/x509";
import { type CertificateRequest, type Pair, validity } from "../bench/protocols/safety/certificates/authority.js";

export type { Pair };

export interface Issue extends CertificateRequest {
  /** An RSA key of this size instead of one on P-256. */
  readonly rsaBits?: number;
}

/** When a revocation list was made, and until when it counts. */
export interface CrlTimes {
  readonly thisUpdate?: Date;
  readonly nextUpdate?: Date;
}

export interface Authority {
  /** PEM text, for `ca` and `clientCa`. */
  readonly ca: string;
  issue(issue: Issue): Promise<Pair>;
  /** A revocation list of these certificates, as PEM text. */
  crl(revoked: readonly Pair[], times?: CrlTimes): Promise<string>;
}

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A certificate authority that lives as long as the process. */
export async function makeAuthority(name = "Test Authority"): Promise<Authority> {
  cryptoProvider.set(crypto);
  const keys = await makeKeys();
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${name}`,
    ...validity(),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return {
    ca: root.toString("pem"),
    issue: (issue) => sign(root, keys.privateKey, issue),
    crl: (revoked, times) => revoke(root, keys.privateKey, revoked, times),
  };
}

async function revoke(
  root: X509Certificate,
  signingKey: webcrypto.CryptoKey,
  revoked: readonly Pair[],
  { thisUpdate, nextUpdate }: CrlTimes = {},
): Promise<string> {
  const { notBefore, notAfter } = validity(thisUpdate && { notBefore: thisUpdate });
  const list = await X509CrlGenerator.create({
    issuer: root.subject,
    thisUpdate: notBefore,
    nextUpdate: nextUpdate ?? notAfter,
    entries: revoked.map(({ cert }) => ({
      serialNumber: new X509Certificate(cert).serialNumber,
      revocationDate: notBefore,
    })),
    signingAlgorithm: ALGORITHM,
    signingKey,
  });
  return PemConverter.encode(list.rawData, "X509 CRL");
}

async function sign(root: X509Certificate, signingKey: webcrypto.CryptoKey, issue: Issue): Promise<Pair> {
  const keys = await makeKeys(issue.rsaBits);
  const certificate = await X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: `CN=${issue.hosts[0] ?? "nobody"}`,
    issuer: root.subject,
    ...validity(issue),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey,
    extensions: [
      new BasicConstraintsExtension(false),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([issue.client === true ? ExtendedKeyUsage.clientAuth : ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(issue.hosts.map(alternativeName)),
    ],
  });
  const key = await crypto.subtle.exportKey("pkcs8", keys.privateKey);
  return { cert: certificate.toString("pem"), key: PemConverter.encode(key, "PRIVATE KEY") };
}

function makeKeys(rsaBits?: number): Promise<webcrypto.CryptoKeyPair> {
  if (rsaBits === undefined) return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const rsa = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", publicExponent: new Uint8Array([1, 0, 1]), modulusLength: rsaBits };
  return crypto.subtle.generateKey(rsa, true, ["sign", "verify"]);
}

function alternativeName(host: string): { readonly type: "ip" | "dns"; readonly value: string } {
  return { type: /^[\d.]+$|:/.test(host) ? "ip" : "dns", value: host };
}

function serial(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
}
