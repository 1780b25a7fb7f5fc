import { AgentError, type JsonObject, type Maybe, type Records } from "../../../envelope/index.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { readInteger, readObject, readText } from "../../../transport/fields.js";
import { DidNotResolved } from "../errors.js";
import { type Account, keccak } from "../identity/account.js";
import type { Network } from "../identity/did-sage.js";
import { readHex, readOperation, toHex, writeOperation } from "./operations.js";
import { isProvenKey } from "./possession.js";
import { signerOf } from "./record-signature.js";
import type { Changes, Operation, Receipt, RegisteredKey, Registry, RegistryRecord } from "./registry.js";
import { type AgentState, checkCommit, checkReveal, type Moment, nextState } from "./state-machine.js";

/** Limits of an embedded registry. It is read into memory as a whole. */
export const EMBEDDED_LIMITS = {
  records: 100_000,
  /** Records read from the store at once. */
  page: 256,
  /** How often a submission is tried again because another process recorded something first. */
  attempts: 32,
} as const;

export interface EmbeddedOptions {
  readonly network: Network;
  /** Milliseconds since the epoch. */
  now(): number;
}

interface Entry {
  readonly account: string;
  readonly publicKey: Uint8Array;
  readonly operation: Operation;
  readonly time: number;
  readonly signature: Uint8Array;
}

/** An operation that its account signed, and when. */
interface SignedOperation {
  readonly operation: Operation;
  readonly at: Moment;
}

/**
 * A registry in the store of a deployment, for use without a chain. The store has a log of signed operations; its numbers have no
 * gaps, because a record is added only if its number is free. The signature of every record is checked when the log is read, so that none
 * can be taken from its account; what the operations of an account amount to is checked with the first question about it, because
 * proofs of keys take longer than everything else.
 */
export class EmbeddedRegistry implements Registry {
  readonly network: Network;
  readonly id: string;
  readonly #records: Records;
  /** Each network has a log of its own. */
  readonly #log: string;
  readonly #now: () => number;
  readonly #agents = new Map<string, AgentState>();
  readonly #commitments = new Map<string, number>();
  /** Of each record. */
  readonly #accounts: string[] = [];
  /** The key of an account that has signed a record. It needs no other proof of its possession, and recovering it takes longest. */
  readonly #signers = new Map<string, PublicKey>();
  /** What was read of an account and not applied yet. */
  readonly #unapplied = new Map<string, SignedOperation[]>();
  #turn: Promise<unknown> = Promise.resolve();

  constructor(records: Records, { network, now }: EmbeddedOptions) {
    this.network = network;
    this.id = `embedded:${network}`;
    this.#records = records;
    this.#log = `log/${network}/`;
    this.#now = now;
  }

  read(account: string): Promise<Maybe<RegistryRecord>> {
    return this.#inTurn(async () => {
      await this.#catchUp();
      const agent = await this.#stateOf(account);
      return agent && { ...agent, source: { kind: "embedded", record: this.#accounts.length } };
    });
  }

  async isProven(account: string, key: RegisteredKey): Promise<boolean> {
    if (this.#isSigner(account, key.bytes)) return true;
    return isProvenKey({ registry: this.id, agent: account, name: key.name }, key);
  }

  changes(cursor?: number): Promise<Changes> {
    return this.#inTurn(async () => {
      await this.#catchUp();
      const end = this.#accounts.length;
      return { accounts: [...new Set(this.#accounts.slice(cursor ?? end))], cursor: end };
    });
  }

  async commitmentOf(account: string, registration: Extract<Operation, { kind: "register" }>): Promise<string> {
    const claim = { claim: "sage-claim", registry: this.id, account, registration: writeOperation(registration) };
    return toHex(await keccak(Buffer.from(canonicalJson(claim))));
  }

  submit(account: Account, operation: Operation): Promise<Receipt> {
    return this.#inTurn(async () => {
      for (let attempt = 0; attempt < EMBEDDED_LIMITS.attempts; attempt++) {
        await this.#catchUp();
        const number = this.#accounts.length + 1;
        if (number > EMBEDDED_LIMITS.records)
          throw new AgentError("overloaded", `an embedded registry has at most ${EMBEDDED_LIMITS.records} records; use a chain`);
        await this.#stateOf(account.address);
        const time = Math.floor(this.#now() / 1_000) * 1_000;
        const apply = await this.#checked(operation, this.#moment(account.address, number, time));
        const signature = await account.sign(this.#signed(number, account.address, operation, time));
        const entry = { account: account.address, publicKey: account.key.bytes, operation, time, signature };
        if ((await this.#records.add(this.#keyOf(number), written(entry))) !== undefined) continue;
        this.#accounts.push(account.address);
        apply();
        return { kind: "embedded", record: number };
      }
      throw new AgentError("overloaded", "other processes change the registry all the time; try again", { sent: "no" });
    });
  }

  /** One at a time: each reads the log to its end before it decides. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work).catch((thrown: unknown) => {
      throw thrown instanceof AgentError
        ? thrown
        : new DidNotResolved("record.unreachable", "the embedded registry cannot be read", thrown);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      const last = this.#accounts.length;
      const page = await this.#page(last);
      for (const { key, value } of page) {
        const number = this.#accounts.length + 1;
        if (key !== this.#keyOf(number)) throw damaged(number, "it is missing");
        const signed = await this.#verified(number, value);
        const { account } = signed.at;
        this.#accounts.push(account);
        const others = this.#unapplied.get(account);
        if (others === undefined) this.#unapplied.set(account, [signed]);
        else others.push(signed);
      }
      if (page.length < EMBEDDED_LIMITS.page) return;
    }
  }

  async #page(after: number) {
    try {
      return await this.#records.list(this.#log, EMBEDDED_LIMITS.page, after === 0 ? undefined : this.#keyOf(after));
    } catch (thrown) {
      throw new DidNotResolved("record.unreachable", "the store of the embedded registry cannot be read", thrown);
    }
  }

  /** Applies what was read of an account, up to a record that is not valid: the account then has no state. */
  async #stateOf(account: string): Promise<Maybe<AgentState>> {
    const unapplied = this.#unapplied.get(account) ?? [];
    for (let [next] = unapplied; next !== undefined; [next] = unapplied) {
      try {
        (await this.#checked(next.operation, next.at))();
      } catch (thrown) {
        throw damaged(next.at.block, problemOf(thrown), thrown);
      }
      unapplied.shift();
    }
    this.#unapplied.delete(account);
    return this.#agents.get(account);
  }

  async #verified(number: number, value: JsonObject): Promise<SignedOperation> {
    try {
      const { account, publicKey, operation, time, signature } = readEntry(value);
      const signed = this.#signed(number, account, operation, time);
      this.#signers.set(account, await signerOf({ account, publicKey, signed, signature }, this.#signers.get(account)));
      return { operation, at: { ...this.#moment(account, number, time), signer: publicKey } };
    } catch (thrown) {
      throw damaged(number, problemOf(thrown), thrown);
    }
  }

  #isSigner(account: string, bytes: Uint8Array): boolean {
    const signer = this.#signers.get(account);
    return signer !== undefined && Buffer.compare(signer.bytes, bytes) === 0;
  }

  #moment(account: string, block: number, now: number): Moment {
    return { account, block, now, registry: this.id };
  }

  /** Checks an operation; the result applies it. */
  async #checked(operation: Operation, at: Moment): Promise<() => void> {
    const { account, block } = at;
    if (operation.kind === "commit") {
      const name = `${account} ${operation.commitment}`;
      checkCommit(this.#commitments.get(name), at);
      return () => void this.#commitments.set(name, block);
    }
    const agent = this.#agents.get(account);
    const commitment = operation.kind === "register" ? `${account} ${await this.commitmentOf(account, operation)}` : undefined;
    if (commitment !== undefined && agent === undefined) checkReveal(this.#commitments.get(commitment), at);
    const next = await nextState(agent, operation, at);
    return () => {
      if (commitment !== undefined) this.#commitments.delete(commitment);
      this.#agents.set(account, next);
    };
  }

  /** In the order of the numbers. */
  #keyOf(number: number): string {
    return `${this.#log}${String(number).padStart(9, "0")}`;
  }

  /** With its number: an operation cannot be recorded a second time. */
  #signed(record: number, account: string, operation: Operation, time: number): Uint8Array {
    const content = { registry: this.id, record, account, operation: writeOperation(operation), time };
    return Buffer.from(`koine-sage-record|1\n${canonicalJson(content)}`);
  }
}

function written({ account, publicKey, operation, time, signature }: Entry): JsonObject {
  return {
    account,
    publicKey: toHex(publicKey),
    operation: writeOperation(operation),
    time,
    signature: toHex(signature),
  };
}

function readEntry(value: JsonObject): Entry {
  const members = readObject(value, "");
  return {
    account: readText(members["account"], "account"),
    publicKey: readHex(members["publicKey"], "publicKey"),
    operation: readOperation(members["operation"], "operation"),
    time: readInteger(members["time"], "time"),
    signature: readHex(members["signature"], "signature"),
  };
}

function problemOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : "it cannot be read";
}

function damaged(number: number, problem: string, cause?: unknown): DidNotResolved {
  return new DidNotResolved("record.invalid", `record ${number} of the embedded registry is invalid: ${problem}`, cause);
}
