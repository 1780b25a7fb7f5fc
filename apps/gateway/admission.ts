import { AgentError } from "../../src/index.js";
import { loopbackCallers } from "../../src/internal.js";
import {
  type Admission,
  type AuditSink,
  anyOf,
  apiKeys,
  auditKeys,
  bearerTokens,
  clientCertificates,
  jwtTokens,
  openAdmission,
  parseTokens,
} from "../../src/public/auth.js";
import { didSignatures } from "../../src/public/identity.js";
import type { MemberPath } from "../config/index.js";
import type { ConfigDocument } from "./config-schema.js";
import type { SecretReader } from "./secrets.js";

/** The admission of callers, with a description for the operator. */
export interface CallerAdmission {
  readonly admission: Admission;
  readonly description: string;
}

/** Combines every configured authentication method. JWT issuers come before static tokens, which claim every bearer token. */
export async function readAdmission(
  { auth = {}, listen }: ConfigDocument,
  secrets: SecretReader,
  audit: AuditSink | undefined,
): Promise<CallerAdmission> {
  const accepted: CallerAdmission[] = [];
  const clientCa = listen?.tls?.clientCa;
  if (clientCa !== undefined)
    accepted.push({ admission: clientCertificates(), description: `holders of a certificate issued by ${clientCa}` });
  const attempt = (path: MemberPath, make: () => CallerAdmission): void => {
    try {
      accepted.push(make());
    } catch (thrown) {
      if (!(thrown instanceof AgentError)) throw thrown;
      secrets.problems.add(path, `is invalid: ${thrown.message}`);
    }
  };
  const { dids } = auth;
  if (dids !== undefined)
    accepted.push({ admission: didSignatures({ dids }), description: `holders of a key of ${dids.join(", ")}` });
  const keys = await secrets.secret(auth.apiKeys, ["auth", "apiKeys"]);
  if (keys !== undefined)
    attempt(["auth", "apiKeys"], () => {
      const named = parseTokens(keys);
      return {
        admission: apiKeys(named, keyLocation(auth.apiKeyIn)),
        description: `holders of a key: ${[...named.keys()].join(", ")}`,
      };
    });
  const { jwt } = auth;
  if (jwt !== undefined)
    attempt(["auth", "jwt"], () => ({
      admission: jwtTokens({
        issuer: jwt.issuer,
        audience: jwt.audience,
        jwks: { url: jwt.jwks },
        requiredScopes: jwt.scopes ?? [],
        ...(jwt.tenantClaim === undefined ? {} : { tenantClaim: jwt.tenantClaim }),
        ...(jwt.tokenUrl === undefined ? {} : { declare: { kind: "clientCredentials", tokenUrl: jwt.tokenUrl } }),
        ...(audit === undefined ? {} : { onKeys: auditKeys(audit, jwt.issuer, { now: Date.now }) }),
      }),
      description: `holders of a token issued by ${jwt.issuer}`,
    }));
  const tokens = await secrets.secret(auth.tokens, ["auth", "tokens"]);
  if (tokens !== undefined)
    attempt(["auth", "tokens"], () => {
      const named = parseTokens(tokens);
      return { admission: bearerTokens(named), description: `holders of a token: ${[...named.keys()].join(", ")}` };
    });
  if (auth.loopback !== undefined)
    accepted.push({
      admission: loopbackCallers(auth.loopback),
      description: `callers on this machine, as loopback:${auth.loopback}`,
    });
  if (accepted.length === 0) return { admission: openAdmission(), description: "anyone who can reach this address" };
  return {
    admission: anyOf(...accepted.map(({ admission }) => admission)),
    description: accepted.map(({ description }) => description).join("; "),
  };
}

function keyLocation(text = "header:X-Api-Key"): { readonly location: "header" | "query" | "cookie"; readonly name: string } {
  const [location = "", name = ""] = text.split(":", 2);
  return { location: location === "query" || location === "cookie" ? location : "header", name };
}
