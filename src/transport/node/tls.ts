import { X509Certificate } from "node:crypto";
import { createSecureContext, type SecureContextOptions } from "node:tls";
import { AgentError, type Maybe } from "../../envelope/index.js";

/** The contents of PEM files, not their paths. */
export interface TlsOptions {
  /** The server's certificate, followed by those that lead to its authority. */
  readonly cert: string | Buffer;
  readonly key: string | Buffer;
  /** Who vouches for clients. Without it none is asked for a certificate. */
  readonly clientCa?: Maybe<string | Buffer>;
  /** `request` (the default) lets callers without a good certificate in, unidentified; `require` does not. */
  readonly clientCertificate?: Maybe<"request" | "require">;
}

/** Whether clients are asked, and what happens to those that have nothing to show. */
export function clientPolicy(tls: TlsOptions): { readonly requestCert: boolean; readonly rejectUnauthorized: boolean } {
  if (tls.clientCertificate !== undefined && tls.clientCa === undefined) {
    throw new AgentError("invalid_message", "client certificates are asked for, but clientCa does not say who vouches for them");
  }
  return { requestCert: tls.clientCa !== undefined, rejectUnauthorized: tls.clientCertificate === "require" };
}

/** What Node's TLS server takes, checked: a pair that no client would accept is refused here, with the reason. */
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
  if (until.getTime() <= Date.now()) throw bad(`the certificate expired at ${until.toISOString()}`);
  try {
    createSecureContext(context);
  } catch (cause) {
    throw bad(whatIsWrong(cause), cause);
  }
  return context;
}

function readCertificate(pem: string | Buffer, name: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw bad(`the ${name} is not a PEM certificate`, cause);
  }
}

function whatIsWrong(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  if (code === "ERR_OSSL_X509_KEY_VALUES_MISMATCH") return "the key does not belong to the certificate";
  if (/KEY_TYPE_MISMATCH/.test(code)) return "the key is of another kind than the certificate's";
  if (/PASSWORD|INTERRUPTED_OR_CANCELLED/.test(code)) return "the key is encrypted; give it in clear";
  if (/NO_START_LINE|UNSUPPORTED|DECODE|ASN1/.test(code)) return "the key is not a PEM private key";
  return `certificate and key cannot be used (${code})`;
}

function bad(what: string, cause?: unknown): AgentError {
  return new AgentError("invalid_message", `TLS: ${what}`, { cause });
}
