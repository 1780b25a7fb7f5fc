import { AgentError, type Maybe, type Principal } from "../envelope/index.js";
import { blindDigest } from "./blind-digest.js";

/** A secret below this length can be guessed. */
export const MIN_TOKEN_CHARS = 16;
/** A presented secret above this length is not hashed. */
export const MAX_TOKEN_CHARS = 4_096;
const MAX_SECRETS = 10_000;

/** What is kept, in words for errors, and what it may be made of. */
export interface SecretKind {
  readonly word: "token" | "key";
  readonly allowed: RegExp;
  principal(name: string): Principal;
}

/** Whose secret is this? Undefined for a stranger's. */
export type FindHolder = (secret: string) => Maybe<Principal>;

/** Static secrets by name. Only their blind digests are kept and compared. */
export function secretHolders(secrets: ReadonlyMap<string, string>, kind: SecretKind): FindHolder {
  checkSecrets(secrets, kind);
  const digestOf = blindDigest();
  const holders = new Map<string, Principal>();
  for (const [name, secret] of secrets) {
    const digest = digestOf(secret);
    if (holders.has(digest))
      throw new AgentError("invalid_message", `the ${kind.word} of "${name}" also belongs to another name`);
    holders.set(digest, Object.freeze(kind.principal(name)));
  }
  return (secret) => (secret.length > MAX_TOKEN_CHARS ? undefined : holders.get(digestOf(secret)));
}

/** Throws for secrets that are none, too short, or cannot be presented. Never shows one. */
export function checkSecrets(secrets: ReadonlyMap<string, string>, { word, allowed }: SecretKind): void {
  if (secrets.size === 0) throw new AgentError("invalid_message", `no ${word} is configured, so nobody could get in`);
  if (secrets.size > MAX_SECRETS) throw new AgentError("too_large", `at most ${MAX_SECRETS} ${word}s are kept`);
  for (const [name, secret] of secrets) {
    if (name === "") throw new AgentError("invalid_message", `a ${word} has no name`);
    if (secret.length < MIN_TOKEN_CHARS)
      throw new AgentError("invalid_message", `the ${word} of "${name}" is shorter than ${MIN_TOKEN_CHARS} characters`);
    if (secret.length > MAX_TOKEN_CHARS || !allowed.test(secret))
      throw new AgentError("invalid_message", `the ${word} of "${name}" has characters a header cannot carry, or is too long`);
  }
}
