import { AgentError } from "../../src/index.js";
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
import type { MemberPath } from "../config/index.js";
import type { ConfigDocument } from "./config-schema.js";
import type { Materials } from "./secrets.js";

/** Who may call, and the same in words. */
export interface CallerAdmission {
  readonly admission: Admission;
  readonly words: string;
}

/** Every way in that the configuration names. Issuers come before tokens: these claim everything. */
export async function readAdmission(
  { auth = {}, listen }: ConfigDocument,
  materials: Materials,
  audit: AuditSink | undefined,
): Promise<CallerAdmission> {
  const ways: CallerAdmission[] = [];
  const clientCa = listen?.tls?.clientCa;
  if (clientCa !== undefined) ways.push({ admission: clientCertificates(), words: `holders of a certificate by ${clientCa}` });
  const attempt = (path: MemberPath, make: () => CallerAdmission): void => {
    try {
      ways.push(make());
    } catch (thrown) {
      if (!(thrown instanceof AgentError)) throw thrown;
      materials.complaints.add(path, `is no good: ${thrown.message}`);
    }
  };
  const keys = await materials.secret(auth.apiKeys, ["auth", "apiKeys"]);
  if (keys !== undefined)
    attempt(["auth", "apiKeys"], () => {
      const named = parseTokens(keys);
      return { admission: apiKeys(named, keyPlace(auth.apiKeyIn)), words: `holders of a key: ${[...named.keys()].join(", ")}` };
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
      words: `holders of a token by ${jwt.issuer}`,
    }));
  const tokens = await materials.secret(auth.tokens, ["auth", "tokens"]);
  if (tokens !== undefined)
    attempt(["auth", "tokens"], () => {
      const named = parseTokens(tokens);
      return { admission: bearerTokens(named), words: `holders of a token: ${[...named.keys()].join(", ")}` };
    });
  if (ways.length === 0) return { admission: openAdmission(), words: "everybody who reaches this address" };
  return {
    admission: anyOf(...ways.map(({ admission }) => admission)),
    words: ways.map(({ words }) => words).join("; "),
  };
}

function keyPlace(text = "header:X-Api-Key"): { readonly location: "header" | "query" | "cookie"; readonly name: string } {
  const [location = "", name = ""] = text.split(":", 2);
  return { location: location === "query" || location === "cookie" ? location : "header", name };
}
