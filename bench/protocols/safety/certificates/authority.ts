import { createPrivateKey, generateKeyPair, type KeyObject, randomBytes, sign, X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { promisify } from "node:util";
import { bits, bytes, type Der, integer, list, oid, pem, set, tagged, text, time, yes } from "./der.js";

const newKeyPair = promisify(generateKeyPair);

/** A certificate, or a chain of them, and its private key, as PEM text. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** What a certificate says. */
export interface CertificateRequest {
  /** DNS names and addresses; the first is also the common name. */
  readonly hosts: readonly string[];
  /** For client authentication instead of server authentication. */
  readonly client?: boolean;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

export interface Issue extends CertificateRequest {
  readonly keys: Keys;
}

export interface Keys {
  readonly publicKey: Uint8Array;
  readonly privateKey: KeyObject;
}

/** Every suite can be tried with an RSA key, those without forward secrecy too. */
const RSA_BITS = 2_048;
const SHA256_RSA = list(oid("1.2.840.113549.1.1.11"), Buffer.from([0x05, 0x00]));
const OIDS = {
  commonName: "2.5.4.3",
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  alternativeName: "2.5.29.17",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  clientAuth: "1.3.6.1.5.5.7.3.2",
} as const;

/** A certificate authority that lives as long as the process, with keys that it shows nobody. */
export class Authority {
  readonly name: string;
  readonly cert: string;
  readonly #key: KeyObject;

  private constructor(name: string, cert: string, key: KeyObject) {
    this.name = name;
    this.cert = cert;
    this.#key = key;
  }

  static async root(name: string): Promise<Authority> {
    const keys = await makeKeys();
    const body = { issuer: name, subject: name, publicKey: keys.publicKey, extensions: AUTHORITY, ...validity() };
    return new Authority(name, certificate(body, keys.privateKey), keys.privateKey);
  }

  /** An authority whose certificate this one signed. */
  async intermediate(name: string): Promise<Authority> {
    const keys = await makeKeys();
    const body = { issuer: this.name, subject: name, publicKey: keys.publicKey, extensions: AUTHORITY, ...validity() };
    return new Authority(name, certificate(body, this.#key), keys.privateKey);
  }

  /** All certificates of a side may have the same key: it is not what is wrong with them. */
  issue({ hosts, client = false, keys, ...times }: Issue): Pair {
    const extensions = [
      extension(OIDS.basicConstraints, list()),
      extension(OIDS.keyUsage, bits(Buffer.from([0xa0]), 5)),
      extension(OIDS.extendedKeyUsage, list(oid(client ? OIDS.clientAuth : OIDS.serverAuth))),
      extension(OIDS.alternativeName, list(...hosts.map(alternativeName))),
    ];
    const body = { issuer: this.name, subject: hosts[0] ?? "nobody", publicKey: keys.publicKey, extensions, ...validity(times) };
    const key = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    return { cert: certificate(body, this.#key), key };
  }

  /** A revocation list of these certificates, as PEM text. */
  crl(revoked: readonly Pair[]): string {
    const { notBefore, notAfter } = validity();
    const entries = revoked.map(({ cert }) =>
      list(integer(Buffer.from(new X509Certificate(cert).serialNumber.padStart(16, "0"), "hex")), time(notBefore)),
    );
    const [version, listed] = [integer(Buffer.from([1])), entries.length === 0 ? [] : [list(...entries)]];
    const body = list(version, SHA256_RSA, nameOf(this.name), time(notBefore), time(notAfter), ...listed);
    return pem("X509 CRL", signed(body, this.#key));
  }
}

/** One that nobody trusts: it signed itself. */
export function selfSigned(hosts: readonly string[], keys: Keys): Pair {
  const subject = hosts[0] ?? "nobody";
  const extensions = [extension(OIDS.alternativeName, list(...hosts.map(alternativeName)))];
  const body = { issuer: subject, subject, publicKey: keys.publicKey, extensions, ...validity() };
  const key = keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { cert: certificate(body, keys.privateKey), key };
}

interface Body {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Der[];
}

function certificate({ issuer, subject, publicKey, notBefore, notAfter, extensions }: Body, signer: KeyObject): string {
  const serial = randomBytes(8);
  // Positive and without leading zeros.
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const body = list(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    SHA256_RSA,
    nameOf(issuer),
    list(time(notBefore), time(notAfter)),
    nameOf(subject),
    publicKey,
    tagged(3, list(...extensions)),
  );
  return pem("CERTIFICATE", signed(body, signer));
}

function signed(body: Der, signer: KeyObject): Der {
  return list(body, SHA256_RSA, bits(sign("sha256", body, signer)));
}

const AUTHORITY = [
  extension(OIDS.basicConstraints, list(yes), true),
  extension(OIDS.keyUsage, bits(Buffer.from([0x06]), 1), true),
];

function extension(id: string, value: Der, isCritical = false): Der {
  return list(oid(id), ...(isCritical ? [yes] : []), bytes(value));
}

function nameOf(commonName: string): Der {
  return list(set(list(oid(OIDS.commonName), text(commonName))));
}

function alternativeName(host: string): Der {
  if (isIP(host) === 4) return tagged(7, Buffer.from(host.split(".").map(Number)), false);
  return tagged(2, Buffer.from(host), false);
}

/** The key is imported from its bytes: Node 20 can wait for ever when a key is exported straight from the generator's job. */
export async function makeKeys(modulusLength = RSA_BITS): Promise<Keys> {
  const { publicKey, privateKey } = await newKeyPair("rsa", {
    modulusLength,
    publicKeyEncoding: { type: "spki", format: "der" },
    privateKeyEncoding: { type: "pkcs8", format: "der" },
  });
  return { publicKey, privateKey: createPrivateKey({ key: privateKey, type: "pkcs8", format: "der" }) };
}

const DAY_MS = 86_400_000;

/** From a day ago until tomorrow, where nothing else is requested. */
export function validity({ notBefore, notAfter }: Pick<CertificateRequest, "notBefore" | "notAfter"> = {}) {
  return { notBefore: notBefore ?? new Date(Date.now() - DAY_MS), notAfter: notAfter ?? new Date(Date.now() + DAY_MS) };
}
