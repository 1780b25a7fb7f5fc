import { AgentError, type Maybe } from "../../../envelope/index.js";
import { hostOf } from "../../../security/fetch-json.js";
import { DidNotResolved } from "../errors.js";
import { isAccount, NETWORKS, type Network } from "../identity/did-sage.js";
import { type ChainNode, openNode } from "./json-rpc.js";
import { type Chain, chainClient } from "./viem.js";

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

  /** Asks the chain. Errors of the contract pass; all others mean that there is no answer. */
  async ask<T>(question: (chain: Chain, block: bigint) => Promise<T>): Promise<T> {
    const chain = await this.chain();
    try {
      const newest = await chain.client.getBlockNumber();
      return await question(chain, newest > this.#confirmations ? newest - this.#confirmations : 0n);
    } catch (thrown) {
      if (thrown instanceof AgentError || isRevert(thrown, chain)) throw thrown;
      throw this.unreachable(thrown);
    }
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
    const id = await chain.client.getChainId();
    if (id !== this.chainId)
      throw new DidNotResolved(
        "record.invalid",
        `the node at ${this.#host} is of chain ${id}; ${this.network} is ${this.chainId}`,
      );
    if ((await chain.client.getCode({ address: this.address })) === undefined)
      throw new DidNotResolved("record.invalid", `there is no contract at ${this.address} on ${this.network}`);
    return chain;
  }

  unreachable(cause: unknown): DidNotResolved {
    return new DidNotResolved("record.unreachable", `the chain node at ${this.#host} of ${this.network} cannot be asked`, cause);
  }
}

export function isRevert(thrown: unknown, { viem }: Chain): boolean {
  return thrown instanceof viem.BaseError && thrown.walk((each) => each instanceof viem.ContractFunctionRevertedError) !== null;
}
