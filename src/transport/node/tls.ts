import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { AgentError, type Maybe } from "../../envelope/index.js";

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
}

/** Whether client certificates are requested, and whether they are required. */
export function clientPolicy(tls: TlsOptions): { readonly requestCert: boolean; readonly rejectUnauthorized: boolean } {
  if (tls.clientCertificate !== undefined && tls.clientCa === undefined) {
    throw new AgentError("invalid_message", "client certificates are requested, but clientCa is not set");
  }
  return { requestCert: tls.clientCa !== undefined, rejectUnauthorized: tls.clientCertificate === "require" };
}

/** Validated options for Node's TLS server: an unusable pair is refused here, with the reason. */
export function contextOptions(tls: TlsOptions): SecureContextOptions {
  const context: SecureContextOptions = {
    cert: tls.cert,
    key: tls.key,
    minVersion: "TLSv1.2",
    ...(tls.clientCa === undefined ? undefined : { ca: tls.clientCa }),
  };
  const certificate = readCertificate(tls.cert, "certificate");
  if (tls.clientCa !== undefined) readCertificate(tls.clientCa, "client authority");
  const until = new Date(certificate.validTo);
  if (until.getTime() <= Date.now()) throw invalidTls(`the certificate expired at ${until.toISOString()}`);
  try {
    createSecureContext(context);
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

function explainKeyError(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH") return "the key does not match the certificate";
  if (/KEY_TYPE_MISMATCH/.test(code)) return "the key type does not match the certificate";
  if (/PASSWORD|INTERRUPTED_OR_CANCELLED/.test(code)) return "the key is encrypted; provide it unencrypted";
  if (/NO_START_LINE|UNSUPPORTED|DECODE|ASN1/.test(code)) return "the key is not a PEM private key";
  return `certificate and key cannot be used (${code})`;
}

function invalidTls(problem: string, cause?: unknown): AgentError {
  return new AgentError("invalid_message", `TLS: ${problem}`, { cause });
}
