import type { CapabilityId } from "../../protocols/features.js";
import { foldCase } from "../text/fold-case.js";
import type { Span } from "./extract.js";

/** A mechanism that texts call by its name. */
interface Mechanism {
  readonly capability: CapabilityId;
  /** For a text in small letters. */
  readonly name: RegExp;
  /** What the words around the name are easily mistaken for: certificates of one house prove nothing to strangers. */
  readonly insteadOf: ReadonlySet<CapabilityId>;
}

const MECHANISMS: readonly Mechanism[] = [
  {
    capability: "mutual-tls",
    name: /\b(?:mutual(?:ly[- ]authenticated)?[- ](?:tls|ssl)|m-?tls|two[- ]way (?:tls|ssl)|(?:tls|x\.?509) client certificates?)\b/u,
    insteadOf: new Set(["verified-identity", "cross-boundary", "non-repudiation", "enterprise-auth"]),
  },
  {
    capability: "enterprise-auth",
    name: /(?<!\b(?:no|not|without|neither|nor|beyond|than) )\b(?:oauth(?: ?2(?:\.\d)?)?|oidc|openid connect|saml|ldap|kerberos|active directory|single sign-on|sso)\b/u,
    insteadOf: new Set(["verified-identity", "cross-boundary"]),
  },
  {
    capability: "discovery",
    name: /\bagent cards?\b|\b(?:agent|service) discovery\b|\bdiscover(?:s|ing)? (?:each|one an)?other\b|\bagent director(?:y|ies)\b/u,
    insteadOf: new Set(),
  },
];

/**
 * Matches where any name does: one search says that a span names nothing. Names begin with these letters; most places in a text
 * are no beginning of a word, and none of the names is tried there.
 */
const ANY_NAME = new RegExp(String.raw`\b(?=[mtxoslkad])(?:${MECHANISMS.map(({ name }) => name.source).join("|")})`, "u");

/** The mechanisms that a span names. */
export function mechanismsIn({ text, words }: Span): readonly Mechanism[] {
  const inside = foldCase(text.slice(words[0]?.start ?? 0, words.at(-1)?.end ?? 0));
  return ANY_NAME.test(inside) ? MECHANISMS.filter(({ name }) => name.test(inside)) : [];
}
