import { AgentError, type Maybe } from "../../../envelope/index.js";
import { DidNotResolved, isRefusal, RegistryRefusal } from "../errors.js";
import type { Account } from "../identity/account.js";
import { readHex, toHex } from "../registry/operations.js";
import { isProvenKey } from "../registry/possession.js";
import type { Changes, NewKey, Operation, Receipt, RegisteredKey, Registry, RegistryRecord } from "../registry/registry.js";
import { ChainContract, type ChainOptions, milliseconds } from "./chain-options.js";
import { KEY_KINDS, REGISTRY_ABI } from "./registry-abi.js";
import type { Chain } from "./viem.js";

const RECEIPT_MS = 120_000;
const STATES = [undefined, "active", "deactivated"] as const;

/** The registry contract of `contracts/SageRegistry.sol` on a chain. */
export class EvmRegistry implements Registry {
  readonly network;
  readonly id: string;
  readonly #contract: ChainContract;

  constructor(options: ChainOptions) {
    this.#contract = new ChainContract(options);
    this.network = options.network;
    this.id = `eip155:${this.#contract.chainId}:${this.#contract.address}`;
  }

  close(): Promise<void> {
    return this.#contract.close();
  }

  prepare(): Promise<unknown> {
    return this.#contract.chain();
  }

  async read(account: string): Promise<Maybe<RegistryRecord>> {
    const { address, chainId } = this.#contract;
    return this.#contract.ask(async ({ viem, client }, block) => {
      const agent = await client.readContract({
        address,
        abi: viem.parseAbi(REGISTRY_ABI),
        functionName: "getAgent",
        args: [account as `0x${string}`],
        blockNumber: block,
      });
      const state = STATES[agent.state];
      if (state === undefined) return undefined;
      return {
        account,
        state,
        version: Number(agent.version),
        endpoint: agent.endpoint,
        registeredAt: milliseconds(agent.registeredAt),
        updatedAt: milliseconds(agent.updatedAt),
        keys: agent.keys.map(keyOf),
        source: { kind: "chain", chainId, registry: address, block: Number(block) },
      };
    });
  }

  isProven(account: string, key: RegisteredKey): Promise<boolean> {
    return isProvenKey({ registry: this.id, agent: account, name: key.name }, key);
  }

  changes(cursor?: number): Promise<Changes> {
    const { address } = this.#contract;
    return this.#contract.askSince(cursor, async ({ viem, client }, fromBlock, toBlock) => {
      const abi = viem.parseAbi(REGISTRY_ABI);
      const events = await client.getContractEvents({ address, abi, fromBlock, toBlock, strict: true });
      return [...new Set(events.map(({ args }) => args.agent.toLowerCase()))];
    });
  }

  commitmentOf(account: string, { keys, endpoint, salt }: Extract<Operation, { kind: "register" }>): Promise<string> {
    const { address, chainId } = this.#contract;
    return this.#contract.ask(async ({ viem }) => {
      const types = viem.parseAbiParameters([
        "string, uint256, address, address, NewKey[], string, bytes32",
        "struct NewKey { string name; uint8 kind; bytes data; bytes proof; }",
      ]);
      const values = ["sage-claim", BigInt(chainId), address, account as `0x${string}`, keys.map(argumentOf), endpoint] as const;
      return viem.keccak256(viem.encodeAbiParameters(types, [...values, salt as `0x${string}`]));
    });
  }

  /** The operation is first tried in the block to come, so that a refusal costs nothing and has its reason. */
  async submit(account: Account, operation: Operation): Promise<Receipt> {
    const { address } = this.#contract;
    const chain = await this.#contract.chain();
    const { viem, client } = chain;
    try {
      const signer = await signerOf(account, chain);
      const data = viem.encodeFunctionData({ abi: viem.parseAbi(REGISTRY_ABI), ...callOf(operation) });
      const gas = await client.estimateGas({ account: signer, to: address, data, blockTag: "pending" });
      const hash = await client.sendTransaction({ account: signer, to: address, data, gas });
      const { status, blockNumber } = await client.waitForTransactionReceipt({ hash, timeout: RECEIPT_MS });
      if (status !== "success")
        throw new AgentError("conflict", `the transaction ${hash} was reverted: the record changed meanwhile`, { sent: "maybe" });
      return { kind: "chain", transaction: hash, block: Number(blockNumber) };
    } catch (thrown) {
      if (thrown instanceof AgentError) throw thrown;
      throw refusalOf(thrown, chain) ?? noFunds(thrown, account, chain) ?? this.#contract.unreachable(thrown);
    }
  }

  /** On a development node, gives the account what transactions cost. False if the node cannot. */
  async fund(account: string): Promise<boolean> {
    await this.#contract.chain();
    try {
      await this.#contract.request("anvil_setBalance", [account, `0x${(10n ** 18n).toString(16)}`]);
      return true;
    } catch {
      return false;
    }
  }
}

type AbiKey = { readonly name: string; readonly kind: number; readonly data: `0x${string}`; readonly proof: `0x${string}` };

function argumentOf({ name, kind, bytes, proof }: NewKey): AbiKey {
  return { name, kind: KEY_KINDS.indexOf(kind), data: toHex(bytes), proof: toHex(proof) };
}

function keyOf(key: AbiKey & { readonly revoked: boolean; readonly addedAt: bigint; readonly endsAt: bigint }): RegisteredKey {
  const kind = KEY_KINDS[key.kind];
  if (kind === undefined) throw new DidNotResolved("record.invalid", `the registry has a key of the unknown kind ${key.kind}`);
  return {
    name: key.name,
    kind,
    bytes: readHex(key.data, "data"),
    proof: readHex(key.proof, "proof"),
    addedAt: milliseconds(key.addedAt),
    revoked: key.revoked,
    ...(key.endsAt === 0n ? {} : { endsAt: milliseconds(key.endsAt) }),
  };
}

function callOf(operation: Operation) {
  switch (operation.kind) {
    case "commit":
      return { functionName: "commit", args: [operation.commitment as `0x${string}`] } as const;
    case "register": {
      const { keys, endpoint, salt } = operation;
      return { functionName: "register", args: [keys.map(argumentOf), endpoint, salt as `0x${string}`] } as const;
    }
    case "addKey":
      return { functionName: "addKey", args: [argumentOf(operation.key)] } as const;
    case "rotate": {
      const { old, key, overlapSeconds } = operation;
      return { functionName: "rotate", args: [old, argumentOf(key), BigInt(overlapSeconds)] } as const;
    }
    case "revoke":
      return { functionName: "revoke", args: [operation.name] } as const;
    case "setEndpoint":
      return { functionName: "setEndpoint", args: [operation.endpoint] } as const;
    case "deactivate":
      return { functionName: "deactivate" } as const;
  }
}

/** Transactions are signed by the identity; the private key does not get here. */
async function signerOf({ address, signKeccak }: Account, { viem }: Chain) {
  const { toAccount } = await import("viem/accounts");
  const refuse = (): never => {
    throw new AgentError("unsupported", "the account signs transactions only", { sent: "no" });
  };
  return toAccount({
    address: address as `0x${string}`,
    signMessage: refuse,
    signTypedData: refuse,
    async signTransaction(transaction) {
      const { r, s, yParity } = await signKeccak(readHex(viem.serializeTransaction(transaction), "transaction"));
      return viem.serializeTransaction(transaction, { r: toHex(r), s: toHex(s), yParity });
    },
  });
}

/** The reason of a refusal is in the data of the error that the node answered. */
function refusalOf(thrown: unknown, { viem }: Chain): Maybe<RegistryRefusal> {
  if (!(thrown instanceof viem.BaseError)) return undefined;
  const found = thrown.walk((each) => typeof (each as { readonly data?: unknown }).data === "string");
  const data = (found as Maybe<{ readonly data: `0x${string}` }> | null)?.data;
  if (data === undefined) return undefined;
  try {
    const { errorName } = viem.decodeErrorResult({ abi: viem.parseAbi(REGISTRY_ABI), data });
    return isRefusal(errorName) ? new RegistryRefusal(errorName, thrown) : undefined;
  } catch {
    return undefined;
  }
}

function noFunds(thrown: unknown, { address }: Account, { viem }: Chain): Maybe<AgentError> {
  if (!(thrown instanceof viem.BaseError)) return undefined;
  if (thrown.walk((each) => each instanceof viem.InsufficientFundsError) === null && !/insufficient funds/i.test(thrown.message))
    return undefined;
  return new AgentError("conflict", `the account ${address} cannot pay for the transaction; send it some coins first`, {
    sent: "no",
    cause: thrown,
  });
}
