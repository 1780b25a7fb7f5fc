import { hash, X509Certificate } from "node:crypto";
import { AgentError, type Maybe, ownerOf, type Principal, RecentMap } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import type { HeadAdmission } from "./admission.js";

/** Which certificates of the client CA are admitted. Without `allow` all are; each list in it adds some. */
export interface CertificateOptions {
  /** Certificates to admit. Default: every certificate of the client CA. */
  readonly allow?: {
    /** SHA-256 of the certificate, in hex, with or without colons. */
    readonly fingerprints?: readonly string[];
    /** Common names of the subject. */
    readonly subjects?: readonly string[];
    /** Subject alternative names: a URI or a DNS name. */
    readonly alternativeNames?: readonly string[];
  };
  /** Milliseconds since the epoch. Default: the system clock. */
  now?(): number;
}

/** Parsed certificates in the cache; parsing costs more than the rest of the check. */
const MAX_CERTIFICATES = 10_000;
/** The id is part of every owner string. */
const MAX_ID_CHARS = 512;

interface CheckedCertificate {
  readonly principal: Maybe<Principal>;
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Authenticates callers by their TLS client certificate, which the connection has only if it was verified against the client CA.
 * Validity is checked per request, because a connection may outlive its certificate.
 */
export function clientCertificates(options: CertificateOptions = {}): HeadAdmission {
  const { now = Date.now } = options;
  const checked = new RecentMap<CheckedCertificate>(MAX_CERTIFICATES);
  const isAllowed = allowRule(options.allow);

  function check(der: Uint8Array): CheckedCertificate {
    const digest = hash("sha256", der, "hex");
    const cached = checked.get(digest);
    if (cached !== undefined) return cached;
    const facts = readCertificate(der, digest);
    const fresh = { ...facts, principal: isAllowed(facts) ? principalOf(facts) : undefined };
    checked.set(digest, fresh);
    return fresh;
  }

  function admit({ connection }: RequestHead): Principal {
    if (connection.clientCertificate === undefined)
      throw new AgentError("unauthenticated", refusalText(connection.clientCertificateProblem));
    const { principal, fromMs, untilMs } = check(connection.clientCertificate);
    const at = now();
    if (at > untilMs) throw new AgentError("unauthenticated", "the client certificate has expired");
    if (at < fromMs) throw new AgentError("unauthenticated", "the client certificate is not valid yet");
    if (principal === undefined) throw new AgentError("forbidden", "the holder of this client certificate is not allowed");
    return principal;
  }
  return Object.assign(admit, {
    open: false,
    security: { schemes: { mtls: { mtlsSecurityScheme: {} } }, anyOf: [{ mtls: [] }] },
    // A revoked certificate is a wrong credential; one of another authority is none.
    claims: ({ connection: { clientCertificate, clientCertificateProblem: problem } }: RequestHead) =>
      clientCertificate !== undefined || (problem !== undefined && problem in PROBLEMS),
    accepts: "a TLS client certificate",
  });
}

/** By OpenSSL's code. The operator reads it in the audit log: an expired list locks out everyone. */
const PROBLEMS: { readonly [code: string]: string } = {
  CERT_REVOKED: "the client certificate is revoked",
  CERT_HAS_EXPIRED: "the client certificate has expired",
  CERT_NOT_YET_VALID: "the client certificate is not valid yet",
  CRL_HAS_EXPIRED: "the client certificate cannot be verified: the revocation list of its authority has expired",
  CRL_NOT_YET_VALID: "the client certificate cannot be verified: the revocation list of its authority is not valid yet",
  UNABLE_TO_GET_CRL: "the client certificate cannot be verified: there is no revocation list of its authority",
};

function refusalText(problem: Maybe<string>): string {
  if (problem === undefined) return "this agent requires a TLS client certificate of a trusted authority";
  return PROBLEMS[problem] ?? "the client certificate is not of a trusted authority, or its key is too small";
}

interface CertificateFacts {
  readonly fingerprint: string;
  readonly uris: readonly string[];
  readonly dnsNames: readonly string[];
  readonly commonName: Maybe<string>;
  readonly fromMs: number;
  readonly untilMs: number;
}

function readCertificate(der: Uint8Array, fingerprint: string): CertificateFacts {
  try {
    const certificate = new X509Certificate(der);
    const names = readAlternativeNames(certificate.subjectAltName ?? "");
    const { CN } = certificate.toLegacyObject().subject;
    return {
      fingerprint,
      uris: names.filter(({ kind }) => kind === "URI").map(({ value }) => value),
      dnsNames: names.filter(({ kind }) => kind === "DNS").map(({ value }) => value),
      commonName: typeof CN === "string" && CN !== "" ? CN : undefined, // a list if there are several, which is ignored
      fromMs: Date.parse(certificate.validFrom),
      untilMs: Date.parse(certificate.validTo),
    };
  } catch (cause) {
    throw new AgentError("unauthenticated", "the client certificate is unreadable", { cause });
  }
}

/**
 * The most specific name: a URI such as a SPIFFE id, a DNS name, or the common name. The last one keeps its `CN=` prefix, because
 * authorities verify it less and it could otherwise imitate the others.
 */
function principalOf({ uris, dnsNames, commonName }: CertificateFacts): Maybe<Principal> {
  const id = uris[0] ?? dnsNames[0] ?? (commonName === undefined ? undefined : `CN=${commonName}`);
  if (id === undefined || id.length > MAX_ID_CHARS) return undefined;
  return Object.freeze({ id, scheme: "mtls", scopes: [], owner: ownerOf("mtls", id) });
}

function allowRule(allow: CertificateOptions["allow"]): (facts: CertificateFacts) => boolean {
  if (allow === undefined) return () => true;
  const fingerprints = new Set((allow.fingerprints ?? []).map((each) => each.replaceAll(":", "").toLowerCase()));
  const subjects = new Set(allow.subjects ?? []);
  const names = new Set(allow.alternativeNames ?? []);
  return ({ fingerprint, uris, dnsNames, commonName }) =>
    fingerprints.has(fingerprint) ||
    (commonName !== undefined && subjects.has(commonName)) ||
    [...uris, ...dnsNames].some((each) => names.has(each));
}

interface AlternativeName {
  readonly kind: string;
  readonly value: string;
}

/** Node joins the names with commas and JSON-quotes names that contain commas or quotes, so that none is ambiguous. */
export function readAlternativeNames(text: string): readonly AlternativeName[] {
  const names: AlternativeName[] = [];
  const pattern = /([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)(?:, |$)/gy;
  for (let match = pattern.exec(text); match !== null && match[0] !== ""; match = pattern.exec(text)) {
    const [, kind = "", raw = ""] = match;
    names.push({ kind, value: raw.startsWith('"') ? (JSON.parse(raw) as string) : raw }); // starts with a quote, so it is a JSON string
  }
  return names;
}
