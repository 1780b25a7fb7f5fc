import { createHash } from "node:crypto";
import { type ContentSubject, subjectOf } from "../../../envelope/index.js";
import type { IdempotencyKey } from "../../store.js";

/** The keys of one task, of its owner's indexes and of its subject's, in the order the scripts know them by. */
export interface TaskKeys {
  readonly id: string;
  /** The digests of subject and owner: a subject has an owner in each of its tenants. */
  readonly tag: string;
  readonly all: readonly string[];
}

/** So many of the keys of a task are its own. They are the first. */
export const OWN_KEYS = 5;
const DIGEST_LENGTH = 22;
const KNOWN_OWNERS = 1_000;

/**
 * Names of keys. All keys of one subject share a hash tag, a digest of the subject, so that each operation is one script on one
 * node of a cluster and counts over all its tenants. Tasks of two owners never share a key: an owner cannot name another owner's task.
 */
export class KeyNames {
  readonly leases: string;
  readonly duePushes: string;
  /** The keys of records: values by name, ordered names, expiry times, and total bytes. */
  readonly records: readonly string[];
  /** The keys of nonces: by their end, and by signer. */
  readonly replays: readonly string[];
  readonly seal: string;
  readonly #prefix: string;
  readonly #tags = new Map<string, string>();

  constructor(prefix: string) {
    this.#prefix = prefix;
    this.leases = `${prefix}:leases`;
    this.seal = `${prefix}:seal`;
    this.duePushes = `${prefix}:due`;
    this.records = ["values", "names", "ends", "bytes"].map((kind) => `${prefix}:{records}:${kind}`);
    this.replays = ["ends", "signers"].map((kind) => `${prefix}:{replays}:${kind}`);
  }

  ofTask(owner: string, id: string): TaskKeys {
    return this.ofTag(this.tagOf(owner), id);
  }

  ofTag(tag: string, id: string): TaskKeys {
    const own = this.#own(tag);
    const task = [`${own}:t:${id}`, `${own}:j:${id}`, `${own}:h:${id}`, `${own}:p:${id}`, `${own}:s:${id}`];
    return { id, tag, all: [...task, ...this.indexes(tag), this.keptOf(tag)] };
  }

  /** The indexes of one owner: tasks by time, idle tasks, and the columns of filters. */
  indexes(tag: string): readonly string[] {
    const own = this.#own(tag);
    return [`${own}:tasks`, `${own}:idle`, `${own}:rows`];
  }

  /** The index of a subject: what it keeps in all its tenants. */
  keptOf(tag: string): string {
    return `${this.#prefix}:{${subjectIn(tag)}}:kept`;
  }

  /** A task in the index of its subject: the digest of its owner, and its id. `tag`: of any owner of the subject. */
  ofKept(tag: string, kept: string): TaskKeys {
    return this.ofTag(subjectIn(tag) + kept.slice(0, DIGEST_LENGTH), kept.slice(DIGEST_LENGTH));
  }

  /** Of one idempotency key, and of the list of them. */
  ofKey(tag: string, agent: string, { key }: IdempotencyKey): readonly string[] {
    const own = this.#own(tag);
    return [`${own}:k:${agent.length}:${agent}${key}`, `${own}:keys`];
  }

  wakeChannel(taskId: string): string {
    return `${this.#prefix}:w:${taskId}`;
  }

  holderChannel(holder: string): string {
    return `${this.#prefix}:h:${holder}`;
  }

  tagOf(owner: string): string {
    const known = this.#tags.get(owner);
    if (known !== undefined) return known;
    const tag = digestOf(subjectOf(owner)) + digestOf(owner);
    if (this.#tags.size >= KNOWN_OWNERS) this.#tags.clear();
    this.#tags.set(owner, tag);
    return tag;
  }

  #own(tag: string): string {
    return `${this.#prefix}:{${subjectIn(tag)}}:${tag.slice(DIGEST_LENGTH)}`;
  }
}

/** Whose content it is: the tag stands for the owner, who is not always known. */
export function contentOf({ tag, id }: TaskKeys): ContentSubject {
  return { owner: tag, taskId: id };
}

/** The hash tag. */
export function subjectIn(tag: string): string {
  return tag.slice(0, DIGEST_LENGTH);
}

function digestOf(name: string): string {
  return createHash("sha256").update(name).digest("base64url").slice(0, DIGEST_LENGTH);
}
