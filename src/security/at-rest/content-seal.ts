import { createCipheriv, createDecipheriv, createHmac } from "node:crypto";
import { AgentError, type ContentSeal, type ContentSubject, type Maybe, SEAL_KEY, SEALED_TEXT } from "../../envelope/index.js";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TAG = { authTagLength: TAG_BYTES } as const;
/** Subjects whose keys are kept derived; there are two generations of them. */
const SUBJECTS_KEPT = 1_024;
const SUBJECT_SHOWN_CHARS = 100;

/** A secret from which the keys of every subject are derived. */
export interface ContentKey {
  /** Its name in sealed texts. */
  readonly id: string;
  readonly secret: Uint8Array;
}

/** The keys that a seal has now. */
export interface ContentKeys {
  /** What is new is sealed with this one. */
  readonly current: ContentKey;
  /** The oldest: it is for digests, which must stay the same. */
  readonly first: ContentKey;
  find(id: string): Maybe<ContentKey>;
}

/** Options of a seal. */
export interface ContentSealOptions {
  /** The file of its keys, for messages: a name without its folder, because remote callers see it. */
  readonly source: string;
  readonly acceptsClear?: Maybe<boolean>;
  /** Called for content that was changed, moved or not sealed. */
  readonly onRefused?: Maybe<(taskId: string, problem: string) => void>;
  readonly onClose?: Maybe<() => void>;
}

interface SubjectKeys {
  readonly seal: Buffer;
  readonly nonce: Buffer;
}

/**
 * AES-256-GCM with a key per subject, which is an HMAC of its names. The place is associated data. The nonce is an HMAC over place and text: it repeats
 * only with both of them, in whichever process.
 */
export class StoreSeal implements ContentSeal {
  readonly acceptsClear: boolean;
  readonly #keys: () => ContentKeys;
  readonly #options: ContentSealOptions;
  #young = new Map<string, SubjectKeys>();
  #old = new Map<string, SubjectKeys>();
  #refused = 0;

  constructor(keys: () => ContentKeys, options: ContentSealOptions) {
    this.#keys = keys;
    this.#options = options;
    this.acceptsClear = options.acceptsClear ?? false;
  }

  get refused(): number {
    return this.#refused;
  }

  seal(text: string, subject: ContentSubject, place: string): string {
    const key = this.#keys().current;
    const { seal, nonce: nonceKey } = this.#keysOf(key, subject);
    const about = Buffer.from(place);
    const nonce = createHmac("sha256", nonceKey).update(`${place}\0${text}`).digest().subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, seal, nonce, TAG).setAAD(about);
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${SEALED_TEXT}${key.id}.${sealed.toString("base64url")}`;
  }

  open(sealed: string, subject: ContentSubject, place: string): string {
    const dot = sealed.indexOf(".", SEALED_TEXT.length);
    if (!sealed.startsWith(SEALED_TEXT) || dot < 0) throw this.refuse(subject, "is not sealed");
    const id = sealed.slice(SEALED_TEXT.length, dot);
    const key = this.#keys().find(id);
    if (key === undefined)
      throw new AgentError(
        "internal",
        `task ${shown(subject.taskId)} is sealed with the key ${shown(id)}, which is not in ${this.#options.source}`,
        { field: SEAL_KEY },
      );
    const bytes = Buffer.from(sealed.slice(dot + 1), "base64url");
    const end = bytes.length - TAG_BYTES;
    if (end < NONCE_BYTES) throw this.refuse(subject, "was cut off");
    const { seal } = this.#keysOf(key, subject);
    const decipher = createDecipheriv(CIPHER, seal, bytes.subarray(0, NONCE_BYTES), TAG)
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(end));
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, end), undefined, "utf8") + decipher.final("utf8");
    } catch {
      throw this.refuse(subject, "was changed, or is not in its place");
    }
  }

  digest(text: string): string {
    const { nonce } = this.#keysOf(this.#keys().first, DIGESTS);
    return createHmac("sha256", nonce).update(text).digest("base64url");
  }

  refuse(subject: ContentSubject, problem: string): AgentError {
    this.#refused += 1;
    this.#options.onRefused?.(subject.taskId, problem);
    const message = `content of task ${shown(subject.taskId)} in the task store ${problem}: it is refused`;
    return new AgentError("internal", message);
  }

  close(): void {
    this.#options.onClose?.();
    this.#young.clear();
    this.#old.clear();
  }

  #keysOf({ id, secret }: ContentKey, subject: ContentSubject): SubjectKeys {
    const about = JSON.stringify([subject.owner, subject.taskId]);
    const name = `${id} ${about}`;
    const known = this.#young.get(name) ?? this.#old.get(name);
    if (known !== undefined) return known;
    const bytes = createHmac("sha512", secret).update(`koine store ${about}`).digest();
    const derived = {
      seal: bytes.subarray(0, KEY_BYTES),
      nonce: bytes.subarray(KEY_BYTES),
    };
    this.#young.set(name, derived);
    if (this.#young.size >= SUBJECTS_KEPT) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    return derived;
  }
}

/** No task has an empty id. */
const DIGESTS: ContentSubject = { owner: "", taskId: "" };

function shown(text: string): string {
  return text.slice(0, SUBJECT_SHOWN_CHARS);
}
