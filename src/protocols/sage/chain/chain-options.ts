import { AgentError, type Maybe } from "../../../envelope/index.js";
import { hostOf } from "../../../security/fetch-json.js";
import { DidNotResolved } from "../errors.js";
import { isAccount, NETWORKS, type Network } from "../identity/did-sage.js";
import type { Changes } from "../registry/registry.js";
import { type ChainNode, openNode } from "./json-rpc.js";
import { type Chain, chainClient } from "./viem.js";

/** The most blocks whose events are asked for at once: nodes refuse larger ranges. Who is further behind starts anew. */
const EVENT_BLOCKS = 1_000n;

/** Where a registry on a chain is. Nothing here has a default address. */
export interface ChainOptions {
  readonly network: Network;
  /** The JSON-RPC address of a node. */
  readonly rpc: string;
  /** The address of the registry contract. */
  readonly registry: string;
  /** Records are read at the block this many below the newest. Default 0. */
  readonly confirmations?: Maybe<number>;
  /** For one request to the node. Default: 10 s. */
  readonly timeoutMs?: Maybe<number>;
}

/** A connection to the contract at an address. What cannot be asked is `record.unreachable`. */
export class ChainContract {
  readonly network: Network;
  readonly chainId: number;
  readonly address: `0x${string}`;
  readonly #node: ChainNode;
  readonly #host: string;
  readonly #confirmations: bigint;
  #chain: Maybe<Promise<Chain>>;

  constructor({ network, rpc, registry, confirmations = 0, timeoutMs }: ChainOptions) {
    if (!isAccount(registry))
      throw new AgentError("invalid_message", "the address of the registry must be 0x and 40 hexadecimal digits, in lower case", {
        field: "registry",
        sent: "no",
      });
    this.network = network;
    this.chainId = NETWORKS[network];
    this.address = registry as `0x${string}`; // checked above
    this.#node = openNode(rpc, timeoutMs);
    this.#host = hostOf(rpc);
    this.#confirmations = BigInt(confirmations);
  }

  close(): Promise<void> {
    return this.#node.close();
  }

  request(method: string, params: readonly unknown[]): Promise<unknown> {
    return this.#node.request({ method, params });
  }

  /** Asks the chain. All errors are `DidNotResolved`: a contract that refuses to be read is another one than was configured. */
  async ask<T>(question: (chain: Chain, block: bigint) => Promise<T>): Promise<T> {
    const chain = await this.chain();
    try {
      const [newest] = await Promise.all([chain.client.getBlockNumber(), this.#checkChain(chain)]);
      return await question(chain, newest > this.#confirmations ? newest - this.#confirmations : 0n);
    } catch (thrown) {
      if (thrown instanceof DidNotResolved) throw thrown;
      if (!isRevert(thrown, chain)) throw this.unreachable(thrown);
      const problem = `the contract at ${this.address} on ${this.network} is not a registry of the configured profile`;
      throw new DidNotResolved("record.invalid", problem, thrown);
    }
  }

  /** Asks for the accounts that changed after a block. */
  askSince(
    cursor: Maybe<number>,
    question: (chain: Chain, from: bigint, to: bigint) => Promise<readonly string[]>,
  ): Promise<Changes> {
    return this.ask(async (chain, block) => {
      const from = cursor === undefined ? block + 1n : BigInt(cursor) + 1n;
      if (from > block) return { accounts: [], cursor: cursor ?? Number(block) };
      if (block - from >= EVENT_BLOCKS)
        throw new DidNotResolved("record.unreachable", `the events of more than ${EVENT_BLOCKS} blocks are not asked for`);
      return { accounts: await question(chain, from, block), cursor: Number(block) };
    });
  }

  /** The client, once it is known that the node is one of this chain, and that there is a contract at the address. */
  async chain(): Promise<Chain> {
    this.#chain ??= this.#open();
    try {
      return await this.#chain;
    } catch (thrown) {
      this.#chain = undefined;
      throw thrown instanceof AgentError ? thrown : this.unreachable(thrown);
    }
  }

  async #open(): Promise<Chain> {
    const chain = await chainClient(this.#node, this.chainId);
    await this.#checkChain(chain);
    if ((await chain.client.getCode({ address: this.address })) === undefined)
      throw new DidNotResolved("record.invalid", `there is no contract at ${this.address} on ${this.network}`);
    return chain;
  }

  /** Asked with every question: a URL can lead to another node at any time. */
  async #checkChain({ client }: Chain): Promise<void> {
    const id = await client.getChainId();
    if (id === this.chainId) return;
    const problem = `the node at ${this.#host} is of chain ${id}; ${this.network} is ${this.chainId}`;
    throw new DidNotResolved("record.invalid", problem);
  }

  unreachable(cause: unknown): DidNotResolved {
    return new DidNotResolved("record.unreachable", `the chain node at ${this.#host} of ${this.network} cannot be asked`, cause);
  }
}

function isRevert(thrown: unknown, { viem }: Chain): boolean {
  return thrown instanceof viem.BaseError && thrown.walk((each) => each instanceof viem.ContractFunctionRevertedError) !== null;
}

/** The latest time that a `Date` has, in seconds. */
const MAX_SECONDS = 8_640_000_000_000n;

/** A time of the chain in milliseconds. */
export function milliseconds(seconds: bigint): number {
  if (seconds > MAX_SECONDS) throw new DidNotResolved("record.invalid", `the registry has the time ${seconds}, which is none`);
  return Number(seconds) * 1_000;
}
