import { X509Certificate } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { tls as tlsModule } from "./lazy-module.js";

/** TLS settings as the contents of PEM files, not their paths. */
export interface TlsOptions {
  /** The server certificate, followed by its intermediate certificates. */
  readonly cert: string | Buffer;
  /** The private key of the server certificate. */
  readonly key: string | Buffer;
  /** CA certificates for clients. Without it no client certificate is requested. */
  readonly clientCa?: Maybe<string | Buffer>;
  /** `request` (the default) admits callers without a valid certificate as unidentified; `require` does not. */
  readonly clientCertificate?: Maybe<"request" | "require">;
  /**
   * Revocation lists, one for every authority in the chains of client certificates. One that is missing or has expired vouches for
   * nobody.
   */
  readonly crl?: Maybe<string | Buffer>;
}

/** TLS settings of outgoing connections. */
export type ClientTls = SecureContextOptions & { readonly rejectUnauthorized?: boolean };

/**
 * OpenSSL's security level 2 refuses RSA keys under 2,048 bits and SHA-1 signatures in certificates, of both sides and of every
 * authority between. Node's own list has suites without forward secrecy (RFC 9325 §4.1), which are left out. An operator who sets a level
 * with `--tls-cipher-list` keeps the whole list.
 */
function ciphers(): string {
  const { DEFAULT_CIPHERS } = tlsModule();
  return DEFAULT_CIPHERS.includes("@SECLEVEL") ? DEFAULT_CIPHERS : `${DEFAULT_CIPHERS}:!kRSA:@SECLEVEL=2`;
}

/** The settings of outgoing connections with the rules about keys. Throws AgentError for an unreadable revocation list. */
export function clientTls(tls: ClientTls = {}): ClientTls {
  if (tls.crl === undefined) return { ciphers: ciphers(), ...tls };
  checkCrl(tls.crl);
  return { ciphers: ciphers(), ...tls, crl: eachCrl(tls.crl) };
}

/** Whether client certificates are requested, and whether they are required. */
export function clientPolicy(tls: TlsOptions): { readonly requestCert: boolean; readonly rejectUnauthorized: boolean } {
  if (tls.clientCertificate !== undefined && tls.clientCa === undefined) {
    throw new AgentError("invalid_message", "client certificates are requested, but clientCa is not set");
  }
  if (tls.crl !== undefined && tls.clientCa === undefined) {
    throw new AgentError("invalid_message", "crl is set, but clientCa is not: no client certificates are requested");
  }
  return { requestCert: tls.clientCa !== undefined, rejectUnauthorized: tls.clientCertificate === "require" };
}

/** Validated options for Node's TLS server: an unusable pair is refused here, with the reason. */
export function contextOptions(tls: TlsOptions): SecureContextOptions {
  const context: SecureContextOptions = {
    cert: tls.cert,
    key: tls.key,
    minVersion: "TLSv1.2",
    ciphers: ciphers(),
    ...(tls.clientCa === undefined ? undefined : { ca: tls.clientCa }),
    ...(tls.crl === undefined ? undefined : { crl: eachCrl(tls.crl) }),
  };
  const certificate = readCertificate(tls.cert, "certificate");
  if (tls.clientCa !== undefined) readCertificate(tls.clientCa, "client authority");
  if (tls.crl !== undefined) checkCrl(tls.crl);
  const until = new Date(certificate.validTo);
  if (until.getTime() <= Date.now()) throw invalidTls(`the certificate expired at ${until.toISOString()}`);
  try {
    tlsModule().createSecureContext(context);
  } catch (cause) {
    throw invalidTls(explainKeyError(cause), cause);
  }
  return context;
}

function readCertificate(pem: string | Buffer, name: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw invalidTls(`the ${name} is not a PEM certificate`, cause);
  }
}

function checkCrl(crl: NonNullable<SecureContextOptions["crl"]>): void {
  try {
    tlsModule().createSecureContext({ crl: eachCrl(crl) });
  } catch (cause) {
    throw invalidTls("the revocation list is not a PEM CRL", cause);
  }
}

const PEM_CRL = /-----BEGIN X509 CRL-----[\s\S]*?-----END X509 CRL-----/g;

/** One text for each list: of several in one text Node reads the first only. */
function eachCrl(crl: NonNullable<SecureContextOptions["crl"]>): (string | Buffer)[] {
  return [crl].flat().flatMap((text): readonly (string | Buffer)[] => text.toString("latin1").match(PEM_CRL) ?? [text]);
}

function explainKeyError(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH") return "the key does not match the certificate";
  if (code === "ERR_SSL_EE_KEY_TOO_SMALL") return "the RSA key has fewer than 2048 bits";
  if (/KEY_TYPE_MISMATCH/.test(code)) return "the key type does not match the certificate";
  if (/PASSWORD|INTERRUPTED_OR_CANCELLED/.test(code)) return "the key is encrypted; provide it unencrypted";
  if (/NO_START_LINE|UNSUPPORTED|DECODE|ASN1/.test(code)) return "the key is not a PEM private key";
  return `certificate and key cannot be used (${code})`;
}

function invalidTls(problem: string, cause?: unknown): AgentError {
  return new AgentError("invalid_message", `TLS: ${problem}`, { cause });
}
