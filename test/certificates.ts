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
  type X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";

/** A certificate and its private key, as PEM text. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

export interface Issue {
  /** DNS names and addresses; the first one is also the common name. */
  readonly hosts: readonly string[];
  /** For client authentication instead of server authentication. */
  readonly client?: boolean;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

export interface Authority {
  /** PEM text, for `ca` and `clientCa`. */
  readonly ca: string;
  issue(issue: Issue): Promise<Pair>;
}

const DAY_MS = 86_400_000;
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** A certificate authority that lives as long as the process. */
export async function makeAuthority(name = "Test Authority"): Promise<Authority> {
  cryptoProvider.set(crypto);
  const keys = await makeKeys();
  const root = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${name}`,
    ...validity({ hosts: [] }),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  });
  return { ca: root.toString("pem"), issue: (issue) => sign(root, keys.privateKey, issue) };
}

async function sign(root: X509Certificate, signingKey: webcrypto.CryptoKey, issue: Issue): Promise<Pair> {
  const keys = await makeKeys();
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

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

function validity({ notBefore, notAfter }: Issue): { notBefore: Date; notAfter: Date } {
  return { notBefore: notBefore ?? new Date(Date.now() - DAY_MS), notAfter: notAfter ?? new Date(Date.now() + DAY_MS) };
}

function alternativeName(host: string): { readonly type: "ip" | "dns"; readonly value: string } {
  return { type: /^[\d.]+$|:/.test(host) ? "ip" : "dns", value: host };
}

function serial(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(8))).toString("hex");
}
