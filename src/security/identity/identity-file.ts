import { link, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { AgentError, isObject, type JsonObject, type Maybe } from "../../envelope/index.js";
import { DecodeProblem, optional, readArray, readBoolean, readObject, readText } from "../../transport/fields.js";
import { readJson } from "../../transport/json.js";
import { readTimestamp, writeTimestamp } from "../../transport/timestamp.js";
import { checkedDid, didOfUrl } from "./did.js";
import type { KeyUse } from "./identity.js";
import { checkName, LocalIdentity, MAX_OWN_KEYS } from "./local-identity.js";
import { checkFolder, codeOf, FILE_MODE, FOLDER_MODE, fileRefused, readOwnFile, writeBeside } from "./own-file.js";
import { type KeyFacts, OwnKey, ownKeyOfJwk } from "./own-key.js";
import { jwkOfKey, keyOfJwk, suits } from "./public-key.js";
import { readRetired } from "./retired-documents.js";

/** Limits of an identity file. */
const FILE_LIMITS = { bytes: 128 * 1024, jsonDepth: 8, jsonValues: 4_000 };
const FORMAT = "koine-identity-1";
const KIND = { what: "an identity file", made: "create it with `koine identity create`", bytes: FILE_LIMITS.bytes } as const;
const USES: ReadonlySet<string> = new Set<KeyUse>(["authentication", "assertion", "agreement"]);

/** Loads an identity from a file that only its owner can read. Errors name the file and what to do, and never show its content. */
export async function openIdentity(file: string, now: () => number = Date.now): Promise<LocalIdentity> {
  const path = resolve(file);
  const bytes = await readOwnFile(path, KIND);
  const retired = await readRetired(path);
  try {
    return identityOf(readObject(readJson(bytes, FILE_LIMITS), ""), retired, now);
  } catch (thrown) {
    // The message of a JSON parser quotes its input, which is a private key.
    const problem = thrown instanceof DecodeProblem ? thrown.message : fileProblem(AgentError.from(thrown));
    throw fileRefused(path, `is not an identity file: ${problem}`, "create one with `koine identity create`");
  } finally {
    bytes.fill(0);
  }
}

function fileProblem({ code, message }: AgentError): string {
  return code === "decode" ? "it is not JSON" : message;
}

/** Writes a new identity file. Throws `conflict` if the file exists: a lost private key cannot be restored. */
export async function writeNewIdentity(file: string, identity: LocalIdentity): Promise<void> {
  const path = resolve(file);
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  await checkFolder(dirname(path));
  await writeBeside(path, membersOf(identity), async (written) => {
    try {
      await link(written, path);
    } catch (thrown) {
      if (codeOf(thrown) !== "EEXIST") throw thrown;
      throw new AgentError("conflict", `${path} exists; it is not overwritten. Choose another file, or rotate its keys`);
    }
    await rm(written);
  });
}

/** Changes an identity file in one step: readers see the old file or the new one. Two changes at once are refused. */
export async function changeIdentity(
  file: string,
  change: (identity: LocalIdentity) => LocalIdentity,
  now: () => number = Date.now,
): Promise<LocalIdentity> {
  const path = resolve(file);
  const lock = `${path}.lock`;
  const held = await open(lock, "wx", FILE_MODE).catch((thrown: unknown) => {
    if (codeOf(thrown) !== "EEXIST") throw thrown;
    throw new AgentError("conflict", `${path} is being changed by another process; if none is running, delete ${lock}`);
  });
  try {
    const changed = change(await openIdentity(path, now));
    await writeBeside(path, membersOf(changed), (written) => rename(written, path));
    return changed;
  } finally {
    await held.close();
    await rm(lock);
  }
}

function membersOf(identity: LocalIdentity): JsonObject {
  const date = (ms: Maybe<number>): Maybe<string> => (ms === undefined ? undefined : writeTimestamp(ms));
  const keys = identity.history().map((key) => {
    const privateKey = key.privateJwk();
    const dates = {
      created: date(key.created),
      rotated: date(key.rotated),
      expires: date(key.expires),
      revoked: date(key.revoked),
    };
    return {
      id: key.id,
      uses: key.uses,
      namesDid: key.namesDid,
      ...dates,
      ...(privateKey === undefined ? { publicKey: jwkOfKey(key) } : { privateKey }),
    };
  });
  return JSON.parse(JSON.stringify({ format: FORMAT, name: identity.name, did: identity.did, keys })) as JsonObject; // without undefined
}

function identityOf(members: JsonObject, retired: readonly JsonObject[], now: () => number): LocalIdentity {
  if (members["format"] !== FORMAT) throw new DecodeProblem("format", `must be ${JSON.stringify(FORMAT)}`);
  const name = readText(members["name"], "name");
  const did = readText(members["did"], "did");
  checkName(name);
  checkedDid(did);
  const keys = readArray(members["keys"], "keys", (value, path) => keyOf(readObject(value, path), path, did));
  if (keys.length === 0 || keys.length > MAX_OWN_KEYS) throw new DecodeProblem("keys", `must be 1 to ${MAX_OWN_KEYS} keys`);
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new DecodeProblem("keys", "has two keys with one id");
  return new LocalIdentity({ name, did, keys, retired }, now);
}

function keyOf(members: JsonObject, path: string, did: string): OwnKey {
  const id = readText(members["id"], `${path}.id`);
  if (didOfUrl(id) !== did || id === did) throw new DecodeProblem(`${path}.id`, "is not a key of this DID");
  const uses = readArray(members["uses"], `${path}.uses`, (use, at) => {
    if (typeof use !== "string" || !USES.has(use)) throw new DecodeProblem(at, `must be one of ${[...USES].join(", ")}`);
    return use as KeyUse; // in the set
  });
  const facts: KeyFacts = {
    id,
    uses,
    namesDid: optional(members["namesDid"], `${path}.namesDid`, readBoolean),
    created: readTimestamp(members["created"], `${path}.created`),
    rotated: optional(members["rotated"], `${path}.rotated`, readTimestamp),
    expires: optional(members["expires"], `${path}.expires`, readTimestamp),
    revoked: optional(members["revoked"], `${path}.revoked`, readTimestamp),
  };
  const jwk: unknown = members["privateKey"];
  const stated = isObject(jwk) ? undefined : keyOfJwk(members["publicKey"]);
  const key = isObject(jwk) ? ownKeyOfJwk(jwk, facts) : stated && new OwnKey(facts, stated, undefined);
  if (key === undefined) throw new DecodeProblem(path, "is not a valid key");
  if (key.revoked !== undefined && key.hasPrivate) throw new DecodeProblem(path, "is revoked, but has a private key");
  if (!uses.every((use) => suits(key.kind, use))) throw new DecodeProblem(`${path}.uses`, `do not fit a ${key.kind} key`);
  return key;
}
