import { AgentError, type Maybe, type Principal } from "../envelope/index.js";
import { blindDigest } from "./blind-digest.js";

/** Shorter secrets can be guessed. */
export const MIN_TOKEN_CHARS = 16;
/** Longer presented secrets are not hashed. */
export const MAX_TOKEN_CHARS = 4_096;
const MAX_SECRETS = 10_000;

/** The kind of secret, for messages, and its syntax. */
export interface SecretKind {
  readonly noun: "token" | "key";
  readonly allowed: RegExp;
  principal(name: string): Principal;
}

/** Finds the holder of a secret; undefined if it is unknown. */
export type FindHolder = (secret: string) => Maybe<Principal>;

/** Static secrets by name. Only their keyed digests are kept and compared. */
export function secretHolders(secrets: ReadonlyMap<string, string>, kind: SecretKind): FindHolder {
  checkSecrets(secrets, kind);
  const digestOf = blindDigest();
  const holders = new Map<string, Principal>();
  for (const [name, secret] of secrets) {
    const digest = digestOf(secret);
    if (holders.has(digest))
      throw new AgentError("invalid_message", `the ${kind.noun} of "${name}" also belongs to another name`);
    holders.set(digest, Object.freeze(kind.principal(name)));
  }
  return (secret) => (secret.length > MAX_TOKEN_CHARS ? undefined : holders.get(digestOf(secret)));
}

/** Throws for missing, short or unpresentable secrets. Never shows one. */
export function checkSecrets(secrets: ReadonlyMap<string, string>, { noun: word, allowed }: SecretKind): void {
  if (secrets.size === 0) throw new AgentError("invalid_message", `no ${word} is configured, so every caller would be refused`);
  if (secrets.size > MAX_SECRETS) throw new AgentError("too_large", `at most ${MAX_SECRETS} ${word}s are supported`);
  for (const [name, secret] of secrets) {
    if (name === "") throw new AgentError("invalid_message", `a ${word} has no name`);
    if (secret.length < MIN_TOKEN_CHARS)
      throw new AgentError("invalid_message", `the ${word} of "${name}" is shorter than ${MIN_TOKEN_CHARS} characters`);
    if (secret.length > MAX_TOKEN_CHARS || !allowed.test(secret))
      throw new AgentError(
        "invalid_message",
        `the ${word} of "${name}" is too long or contains characters that a header cannot carry`,
      );
  }
}
