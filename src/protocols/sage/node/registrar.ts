import { AgentError, type Maybe } from "../../../envelope/index.js";
import { changeIdentity, type LocalIdentity, openIdentity, type PublicKey } from "../../../security/identity/index.js";
import { DidNotResolved } from "../errors.js";
import { type Account, accountOf } from "../identity/account.js";
import { checkedSageDid, type SageDid } from "../identity/did-sage.js";
import { keyName } from "../identity/own-identity.js";
import { toHex } from "../registry/operations.js";
import { provenKey } from "../registry/possession.js";
import type { NewKey, Operation, Receipt, Registry, RegistryRecord } from "../registry/registry.js";

/** Kinds whose keys can be replaced. The account cannot: the DID is made of it. */
const REPLACEABLE: readonly string[] = ["Ed25519", "X25519"];

/** What was recorded, in order. */
export type Steps = readonly { readonly what: Operation["kind"]; readonly receipt: Receipt }[];

/** Changes the record of the identity in a file. Each step can be repeated after a failure in between. */
export class Registrar {
  readonly identity: LocalIdentity;
  readonly #file: string;
  readonly #registry: Registry;
  readonly #account: Account;
  readonly #did: SageDid;
  readonly #steps: { readonly what: Operation["kind"]; readonly receipt: Receipt }[] = [];

  private constructor(file: string, identity: LocalIdentity, registry: Registry, account: Account) {
    this.#file = file;
    this.identity = identity;
    this.#registry = registry;
    this.#account = account;
    this.#did = checkedSageDid(identity.did);
  }

  static async open(file: string, registryFor: (did: SageDid) => Registry): Promise<Registrar> {
    const identity = await openIdentity(file);
    return new Registrar(file, identity, registryFor(checkedSageDid(identity.did)), await accountOf(identity));
  }

  async register(endpoint: string): Promise<Steps> {
    const keys = await this.#proven(this.identity, this.identity.keys());
    const salt = toHex(crypto.getRandomValues(new Uint8Array(32)));
    const registration = { kind: "register", keys, endpoint, salt } as const;
    const commitment = await this.#registry.commitmentOf(this.#account.address, registration);
    await this.#submit({ kind: "commit", commitment });
    await this.#submit(registration);
    return this.#steps;
  }

  /** Makes new keys in the file, unless it has some that are not registered, and then replaces the old ones in the registry. */
  async rotate(overlapSeconds: number): Promise<Steps> {
    const record = await this.#record();
    let identity = this.identity;
    if (unregistered(identity, record).length === 0) {
      const kinds = identity.keys().flatMap(({ kind }) => (REPLACEABLE.includes(kind) ? [kind] : []));
      identity = await changeIdentity(this.#file, (own) =>
        own.rotated({ overlapMs: overlapSeconds * 1_000, kinds: [...new Set(kinds)] }),
      );
    }
    for (const key of await this.#proven(identity, unregistered(identity, record))) {
      const old = record.keys.find(({ kind, endsAt }) => kind === key.kind && endsAt === undefined);
      await this.#submit(old === undefined ? { kind: "addKey", key } : { kind: "rotate", old: old.name, key, overlapSeconds });
    }
    return this.#steps;
  }

  /** In the registry first: a key that is only deleted here would still be accepted. */
  async revoke(key: string): Promise<Steps> {
    const name = keyName(this.#did.did, key);
    const registered = (await this.#record()).keys.find((each) => each.name === name);
    if (registered?.revoked !== true) await this.#submit({ kind: "revoke", name });
    const id = `${this.#did.did}#${name}`;
    // The account still has to sign: revoked as a key, it stays in the file.
    if (id !== this.#account.key.id && this.identity.history().some((each) => each.id === id))
      await changeIdentity(this.#file, (own) => own.revoked(id));
    return this.#steps;
  }

  async setEndpoint(endpoint: string): Promise<Steps> {
    await this.#submit({ kind: "setEndpoint", endpoint });
    return this.#steps;
  }

  async deactivate(): Promise<Steps> {
    await this.#submit({ kind: "deactivate" });
    return this.#steps;
  }

  async #record(): Promise<RegistryRecord> {
    const record = await this.#registry.read(this.#did.account);
    if (record === undefined) throw new DidNotResolved("record.not-found", `${this.#did.did} is not registered`);
    return record;
  }

  async #proven(identity: LocalIdentity, keys: readonly PublicKey[]): Promise<readonly NewKey[]> {
    const proven: NewKey[] = [];
    for (const key of keys) {
      if (key.kind === "P-256") throw new AgentError("unsupported", `${key.id} is a P-256 key, which registries do not have`);
      proven.push(await provenKey(identity, key, this.#registry.id, this.#account.address));
    }
    return proven;
  }

  async #submit(operation: Operation): Promise<void> {
    this.#steps.push({ what: operation.kind, receipt: await this.#registry.submit(this.#account, operation) });
  }
}

/** Keys in use that the registry never had. Of replaced ones that are kept for messages under way it had all. */
function unregistered(identity: LocalIdentity, { keys }: RegistryRecord): readonly PublicKey[] {
  const known = (key: PublicKey): Maybe<unknown> => keys.find(({ name }) => key.id === `${identity.did}#${name}`);
  return identity.keys().filter((key) => known(key) === undefined);
}
