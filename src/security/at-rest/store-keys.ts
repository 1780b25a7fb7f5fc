import { hkdfSync, randomBytes } from "node:crypto";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import { DecodeProblem, readArray, readObject, readText } from "../../transport/fields.js";
import { readJson } from "../../transport/json.js";
import { readTimestamp, writeTimestamp } from "../../transport/timestamp.js";
import { checkFolder, codeOf, FILE_MODE, fileRefused, readOwnFile, writeBeside } from "../identity/own-file.js";
import type { ContentKey, ContentKeys } from "./content-seal.js";

const FORMAT = "koine-store-keys-1";
const SECRET_BYTES = 32;
const ID_BYTES = 6;
/** Keys of one file. */
const MAX_KEYS = 64;
const LIMITS = { bytes: 32 * 1024, jsonDepth: 4, jsonValues: 1_000 };
const MADE = "put it back from a copy; `koine store keys create` makes a new one, for a store that is not sealed yet";
const KIND = { what: "a file of store keys", made: MADE, bytes: LIMITS.bytes } as const;
/** How often a process reads the file again. */
export const READ_AGAIN_MS = 20_000;
/** A new key is used by writers when all of them, and all readers, have read it. */
export const USED_AFTER_MS = 3 * READ_AGAIN_MS;

interface StoreKey extends ContentKey {
  readonly created: number;
}

/** The keys of a file, oldest first. Never empty. */
export class StoreKeys implements ContentKeys {
  readonly first: StoreKey;
  readonly #keys: readonly StoreKey[];
  readonly #now: () => number;

  constructor(keys: readonly StoreKey[], now: () => number) {
    const [first] = keys;
    if (first === undefined) throw new TypeError("a store has at least one key");
    this.first = first;
    this.#keys = keys;
    this.#now = now;
  }

  get current(): ContentKey {
    const usedFrom = this.#now() - USED_AFTER_MS;
    return this.#keys.findLast(({ created }) => created <= usedFrom) ?? this.first;
  }

  /** The names of the keys, and since when what is new is sealed with them. */
  list(): readonly { readonly id: string; readonly created: number; readonly usedFrom: number }[] {
    return this.#keys.map(({ id, created }) => ({
      id,
      created,
      usedFrom: id === this.first.id ? created : created + USED_AFTER_MS,
    }));
  }

  find(id: string): Maybe<ContentKey> {
    return this.#keys.find((key) => key.id === id);
  }

  /** With one more, which is used from `USED_AFTER_MS` on. */
  withNew(): StoreKeys {
    if (this.#keys.length >= MAX_KEYS)
      throw new AgentError("too_large", `a file of store keys has at most ${MAX_KEYS} keys`, { sent: "no" });
    return new StoreKeys([...this.#keys, newKey(this.#now())], this.#now);
  }

  /** The form in the file. */
  toMembers(): JsonObject {
    const keys = this.#keys.map(({ id, created, secret }) => ({
      id,
      created: writeTimestamp(created),
      secret: Buffer.from(secret).toString("base64url"),
    }));
    return { format: FORMAT, keys };
  }
}

/** The file of keys beside an identity file: `desk.json` has `desk.json.store-keys`. */
export function storeKeysFileOf(identityFile: string): string {
  return `${resolve(identityFile)}.store-keys`;
}

export async function hasStoreKeys(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    (thrown: unknown) => {
      if (codeOf(thrown) === "ENOENT") return false;
      throw fileRefused(file, `cannot be read (${codeOf(thrown)})`, "run as the user who created it");
    },
  );
}

/** Reads a file of keys, which only its owner may be able to read. Errors never show its content. */
export async function readStoreKeys(file: string, now: () => number = Date.now): Promise<StoreKeys> {
  const path = resolve(file);
  const bytes = await readOwnFile(path, KIND);
  try {
    return new StoreKeys(keysIn(readObject(readJson(bytes, LIMITS), "")), now);
  } catch (thrown) {
    // The message of a JSON parser quotes its input.
    const problem = thrown instanceof DecodeProblem ? thrown.message : "it is not JSON";
    throw fileRefused(path, `is not a file of store keys: ${problem}`, MADE);
  } finally {
    bytes.fill(0);
  }
}

/** Makes a file with one key. Throws `conflict` if it exists: without its keys a store cannot be read. */
export async function createStoreKeys(file: string, now: () => number = Date.now): Promise<StoreKeys> {
  const path = resolve(file);
  await checkFolder(dirname(path));
  const keys = new StoreKeys([newKey(now())], now);
  await writeBeside(path, keys.toMembers(), async (written) => {
    try {
      await link(written, path);
    } catch (thrown) {
      if (codeOf(thrown) !== "EEXIST") throw thrown;
      throw new AgentError("conflict", `${path} exists; it is not overwritten. Rotate its keys, or choose another file`);
    }
    await rm(written);
  });
  return keys;
}

/** Adds a key to a file, in one step. The old ones stay: they open what they sealed. */
export async function rotateStoreKeys(file: string, now: () => number = Date.now): Promise<StoreKeys> {
  const path = resolve(file);
  const lock = `${path}.lock`;
  const held = await open(lock, "wx", FILE_MODE).catch((thrown: unknown) => {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
    throw new AgentError("conflict", `${path} is being changed by another process; if none is running, delete ${lock}`);
  });
  try {
    const keys = (await readStoreKeys(path, now)).withNew();
    await writeBeside(path, keys.toMembers(), (written) => rename(written, path));
    return keys;
  } finally {
    await held.close();
    await rm(lock);
  }
}

function newKey(created: number): StoreKey {
  const secret = randomBytes(SECRET_BYTES);
  return { id: idOf(secret), created, secret };
}

/** The name says which key it is, and nothing about it. */
function idOf(secret: Uint8Array): string {
  return Buffer.from(hkdfSync("sha256", secret, "", "koine store key id", ID_BYTES)).toString("base64url");
}

function keysIn(members: JsonObject): readonly StoreKey[] {
  if (members["format"] !== FORMAT) throw new DecodeProblem("format", `must be ${JSON.stringify(FORMAT)}`);
  const keys = readArray(members["keys"], "keys", (value, path) => keyOf(readObject(value, path), path));
  if (keys.length === 0 || keys.length > MAX_KEYS) throw new DecodeProblem("keys", `must be 1 to ${MAX_KEYS} keys`);
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new DecodeProblem("keys", "has one key twice");
  return keys;
}

function keyOf(members: JsonObject, path: string): StoreKey {
  const secret = Buffer.from(readText(members["secret"], `${path}.secret`), "base64url");
  if (secret.length !== SECRET_BYTES) throw new DecodeProblem(`${path}.secret`, `must have ${SECRET_BYTES} bytes`);
  if (members["id"] !== idOf(secret)) throw new DecodeProblem(`${path}.id`, "is not the id of this key");
  return { id: idOf(secret), created: readTimestamp(members["created"], `${path}.created`), secret };
}
