import { AgentError, type ErrorCode } from "../../envelope/index.js";

/** Node's error for a host name mismatch. */
interface NameError extends Error {
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: string } };
}

/** Explains a failed TLS handshake and what to do; undefined for other errors. */
export function tlsProblem(cause: Error, code: string, host: string): AgentError | undefined {
  const [errorCode, reason] = explain(cause, code, host) ?? [];
  if (errorCode === undefined) return undefined;
  return new AgentError(errorCode, `${reason} (${code})`, { sent: "no", cause });
}

function explain(cause: NameError, code: string, host: string): readonly [ErrorCode, string] | undefined {
  switch (code) {
    case "CERT_HAS_EXPIRED":
      return ["unavailable", `the certificate of ${host} has expired`];
    case "CERT_NOT_YET_VALID":
      return ["unavailable", `the certificate of ${host} is not valid yet; check the clocks`];
    case "CERT_REVOKED":
      return ["unavailable", `the certificate of ${host} is revoked`];
    case "CRL_HAS_EXPIRED":
      return ["unavailable", `cannot verify the certificate of ${host}: the revocation list of its issuer has expired; renew it`];
    case "UNABLE_TO_GET_CRL":
      return ["unavailable", `cannot verify the certificate of ${host}: there is no revocation list of its issuer`];
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return ["unavailable", `the certificate of ${host} is for ${namesIn(cause)}, not for ${host}`];
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
      return ["unavailable", `${host} uses a self-signed certificate; configure that certificate as the CA`];
    // Node has no code for it.
    case "UNSPECIFIED":
      return /key too (weak|small)/.test(cause.message)
        ? ["unavailable", `the certificate of ${host} or its authority has an RSA key with fewer than 2048 bits`]
        : ["unavailable", `TLS with ${host} failed`];
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
      return ["unavailable", `the certificate of ${host} is issued by an unknown authority; configure its CA`];
    case "ERR_SSL_WRONG_VERSION_NUMBER":
    case "ERR_SSL_PACKET_LENGTH_TOO_LONG":
    case "ERR_SSL_HTTP_REQUEST":
      return ["unavailable", `${host} does not speak TLS; try http:// instead of https://`];
    case "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL":
      return ["bad_peer", `${host} does not offer HTTP/2, which gRPC needs`];
  }
  if (/CERTIFICATE_REQUIRED/.test(code))
    return ["unauthenticated", `${host} requires a client certificate, and none is configured`];
  if (/ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)/.test(code)) {
    return ["unauthenticated", `${host} rejected the client certificate`];
  }
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW/.test(code)) {
    return ["unavailable", `${host} supports neither TLS 1.2 nor TLS 1.3`];
  }
  if (/ALERT_HANDSHAKE_FAILURE/.test(code)) {
    return ["unavailable", `${host} rejected the handshake: it requires a client certificate or unsupported ciphers`];
  }
  if (/CERT|_TLS_|_SSL_|SELF_SIGNED|UNABLE_TO/.test(code)) return ["unavailable", `TLS with ${host} failed`];
  return undefined;
}

function namesIn({ cert }: NameError): string {
  return cert?.subjectaltname?.replace(/DNS:|IP Address:/g, "") ?? cert?.subject?.CN ?? "an unknown host";
}
