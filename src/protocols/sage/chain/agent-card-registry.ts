import type { Maybe } from "../../../envelope/index.js";
import { keyBytes, verifySignature } from "../../../security/identity/index.js";
import { DidNotResolved } from "../errors.js";
import { addressOf, recoverAddress } from "../identity/account.js";
import { parseSageDid, sageDidOf } from "../identity/did-sage.js";
import { hashedKeyName } from "../identity/own-identity.js";
import { readHex, toHex } from "../registry/operations.js";
import type { Changes, RegisteredKey, RegistryReader, RegistryRecord } from "../registry/registry.js";
import { ChainContract, type ChainOptions, milliseconds } from "./chain-options.js";
import { KEY_KINDS } from "./registry-abi.js";
import type { Chain } from "./viem.js";

/** The functions and events of AgentCardRegistry (SAGE up to 1.5.2) that are read. */
const ABI = [
  "struct AgentMetadata { string did; string name; string description; string endpoint; bytes32[] keyHashes; string capabilities; address owner; uint256 registeredAt; uint256 updatedAt; bool active; uint256 chainId; bytes kemPublicKey; }",
  "struct AgentKey { uint8 keyType; bytes keyData; bytes signature; bool verified; uint256 registeredAt; }",
  "function didToAgentId(string did) view returns (bytes32)",
  "function getAgent(bytes32 agentId) view returns (AgentMetadata)",
  "function getKey(bytes32 keyHash) view returns (AgentKey)",
  "function agentNonce(bytes32 agentId) view returns (uint256)",
  "event AgentActivated(bytes32 indexed agentId, uint256 timestamp)",
  "event AgentUpdated(bytes32 indexed agentId, uint256 timestamp)",
  "event AgentDeactivatedByHash(bytes32 indexed agentId, uint256 timestamp)",
  "event KeyAdded(bytes32 indexed agentId, bytes32 indexed keyHash, uint8 keyType, uint256 timestamp)",
  "event KeyRevoked(bytes32 indexed agentId, bytes32 indexed keyHash, uint256 timestamp)",
  "event KEMKeyUpdated(bytes32 indexed agentId, bytes32 indexed keyHash, uint256 timestamp)",
] as const;

type Hex = `0x${string}`;
const NO_AGENT: Hex = `0x${"0".repeat(64)}`;
/** As the contract enforces it. */
const MAX_KEYS = 10;
/** The most agents that are looked up for one list of changes. Who missed more starts anew. */
const MAX_CHANGED = 100;

/** Where the existing contract is. */
export interface AgentCardOptions extends ChainOptions {
  /** The block in which the contract was deployed: deactivations are looked for from there on. Default 0. */
  readonly fromBlock?: Maybe<number>;
}

interface Card {
  readonly did: string;
  readonly keyHashes: readonly Hex[];
  readonly owner: string;
  readonly chainId: bigint;
  readonly kemPublicKey: Hex;
}

/**
 * The existing AgentCardRegistry, read only. What the contract calls verified or active is not trusted: anybody can activate a
 * deactivated agent, register the DID of somebody else, and take the flag from a stranger's key; proofs of Ed25519 keys are not
 * verified there. All of this is verified here.
 */
export class AgentCardRegistry implements RegistryReader {
  readonly network;
  readonly id: string;
  readonly #contract: ChainContract;
  readonly #fromBlock: bigint;

  constructor(options: AgentCardOptions) {
    this.#contract = new ChainContract(options);
    this.network = options.network;
    this.id = `eip155:${this.#contract.chainId}:${this.#contract.address}`;
    this.#fromBlock = BigInt(options.fromBlock ?? 0);
  }

  close(): Promise<void> {
    return this.#contract.close();
  }

  prepare(): Promise<unknown> {
    return this.#contract.chain();
  }

  read(account: string): Promise<Maybe<RegistryRecord>> {
    const { chainId, address } = this.#contract;
    const did = sageDidOf(this.network, account);
    return this.#contract.ask(async (chain, block) => {
      const at = this.#at(chain, block);
      const agentId = await chain.client.readContract({ ...at, functionName: "didToAgentId", args: [did] });
      if (agentId === NO_AGENT) return undefined;
      const agent = await chain.client.readContract({ ...at, functionName: "getAgent", args: [agentId] });
      this.#check(agent, did, account);
      const [keys, version, ended] = await Promise.all([
        this.#keys(chain, block, did, agent),
        chain.client.readContract({ ...at, functionName: "agentNonce", args: [agentId] }),
        this.#wasDeactivated(chain, block, agentId),
      ]);
      return {
        account,
        state: agent.active && !ended ? "active" : "deactivated",
        version: Number(version),
        endpoint: agent.endpoint,
        registeredAt: milliseconds(agent.registeredAt),
        updatedAt: milliseconds(agent.updatedAt),
        keys,
        source: { kind: "chain", profile: "agent-card", chainId, registry: address, block: Number(block) },
      };
    });
  }

  changes(cursor?: number): Promise<Changes> {
    return this.#contract.askSince(cursor, async (chain, fromBlock, toBlock) => {
      const { address, abi } = this.#at(chain, toBlock);
      const events = await chain.client.getContractEvents({ address, abi, fromBlock, toBlock, strict: true });
      const changed = [...new Set(events.map(({ args }) => args.agentId))];
      if (changed.length > MAX_CHANGED)
        throw new DidNotResolved("record.unreachable", `the changes of more than ${MAX_CHANGED} agents are not asked for`);
      const accounts = await Promise.all(changed.map((agentId) => this.#accountOf(chain, toBlock, agentId)));
      return accounts.filter((account) => account !== undefined);
    });
  }

  /** Proofs in the forms of that registry. None counts because the contract accepted it. */
  async isProven(account: string, { kind, bytes, proof }: RegisteredKey): Promise<boolean> {
    switch (kind) {
      case "Ed25519": {
        const text = `SAGE-PoP:${sageDidOf(this.network, account)}:${Buffer.from(bytes).toString("hex")}`;
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
        return verifySignature({ id: "", kind, bytes, uses: ["assertion"] }, "assertion", digest, proof);
      }
      case "secp256k1":
        // What is signed does not contain the key: it proves the key of the account itself and no other.
        return (await addressOf(bytes)) === account;
      case "X25519":
        return (await this.#claimant(account, bytes, proof)) === account;
    }
  }

  /** The account that signed that a key for agreement is its own. */
  async #claimant(account: string, bytes: Uint8Array, proof: Uint8Array): Promise<Maybe<string>> {
    if (proof.length !== 65) return undefined;
    const { viem } = await this.#contract.chain();
    const place = [BigInt(this.#contract.chainId), this.#contract.address, account as Hex] as const;
    const types = ["string", "bytes", "uint256", "address", "address"] as const;
    const hash = viem.keccak256(viem.encodePacked(types, ["SAGE X25519 Ownership:", toHex(bytes), ...place]));
    const signed = Buffer.concat([Buffer.from("\u0019Ethereum Signed Message:\n32"), readHex(hash, "hash")]);
    const [v = 0] = proof.subarray(64);
    // The contract takes 0 and 1 for 27 and 28.
    return recoverAddress(signed, proof.subarray(0, 64), v < 27 ? v : v - 27);
  }

  #at({ viem }: Chain, blockNumber: bigint) {
    return { address: this.#contract.address, abi: viem.parseAbi(ABI), blockNumber } as const;
  }

  /** The contract lets anybody register any DID. */
  #check({ did, owner, chainId }: Card, asked: string, account: string): void {
    if (did !== asked) throw invalid(asked, `its record is that of ${JSON.stringify(did.slice(0, 200))}`);
    if (owner.toLowerCase() !== account) throw invalid(asked, `it was registered by the account ${owner.toLowerCase()}`);
    if (chainId !== BigInt(this.#contract.chainId))
      throw invalid(asked, `its record is of chain ${chainId}; ${this.network} is ${this.#contract.chainId}`);
  }

  /** A deactivated agent stays so, whoever activated it since. */
  async #wasDeactivated(chain: Chain, block: bigint, agentId: Hex): Promise<boolean> {
    const { address, abi } = this.#at(chain, block);
    const range = { fromBlock: this.#fromBlock, toBlock: block };
    const filter = { eventName: "AgentDeactivatedByHash", args: { agentId } } as const;
    return (await chain.client.getContractEvents({ address, abi, ...range, ...filter })).length > 0;
  }

  async #keys(chain: Chain, block: bigint, did: string, { keyHashes, kemPublicKey }: Card): Promise<readonly RegisteredKey[]> {
    if (keyHashes.length > MAX_KEYS) throw invalid(did, `it has more than ${MAX_KEYS} keys`);
    const listed = await Promise.all(keyHashes.map((hash) => this.#key(chain, block, did, hash)));
    const keys = listed.map(({ key, data }) => (key.kind === "X25519" && data !== kemPublicKey ? ended(key) : key));
    const kem = chain.viem.keccak256(kemPublicKey);
    return kemPublicKey === "0x" || keyHashes.includes(kem)
      ? keys
      : [...keys, await this.#unlistedKem(chain, block, kem, kemPublicKey)];
  }

  async #key(chain: Chain, block: bigint, did: string, hash: Hex): Promise<{ readonly key: RegisteredKey; readonly data: Hex }> {
    const found = await chain.client.readContract({ ...this.#at(chain, block), functionName: "getKey", args: [hash] });
    const kind = KEY_KINDS[found.keyType];
    if (kind === undefined) throw invalid(did, `its key ${hash} is of the unknown kind ${found.keyType}`);
    if (chain.viem.keccak256(found.keyData) !== hash) throw invalid(did, `its key ${hash} has other bytes than its hash says`);
    const raw = readHex(found.keyData, "keyData");
    const bytes = keyBytes(kind, kind === "secp256k1" ? pointOf(raw) : raw) ?? raw; // what is no key stays unproven
    const proof = readHex(found.signature, "signature");
    const addedAt = milliseconds(found.registeredAt);
    return { key: { name: nameOf(hash), kind, bytes, proof, addedAt, revoked: false }, data: found.keyData };
  }

  /**
   * The contract leaves a revoked key for agreement in its place. One that was never listed came by `updateKEMKey`, which keeps no proof:
   * it stays unproven.
   */
  async #unlistedKem(chain: Chain, block: bigint, hash: Hex, data: Hex): Promise<RegisteredKey> {
    const found = await chain.client.readContract({ ...this.#at(chain, block), functionName: "getKey", args: [hash] });
    const revoked = found.registeredAt > 0n;
    const key = { name: nameOf(hash), kind: "X25519", bytes: readHex(data, "kemPublicKey"), proof: new Uint8Array() } as const;
    return { ...key, addedAt: milliseconds(found.registeredAt), revoked };
  }

  /** The account in the DID of an agent: the cache keeps records by DIDs. */
  async #accountOf(chain: Chain, block: bigint, agentId: Hex): Promise<Maybe<string>> {
    const { did } = await chain.client.readContract({ ...this.#at(chain, block), functionName: "getAgent", args: [agentId] });
    const parsed = parseSageDid(did);
    return parsed?.network === this.network ? parsed.account : undefined;
  }
}

/** A listed key for agreement that is not the one that the contract names as current. */
function ended(key: RegisteredKey): RegisteredKey {
  return { ...key, endsAt: 0 }; // at once: the clock of a chain may be ahead of ours
}

function nameOf(hash: Hex): string {
  return hashedKeyName(hash.slice(2));
}

/** Points come with and without the byte that says that they are not compressed. */
function pointOf(bytes: Uint8Array): Uint8Array {
  return bytes.length === 64 ? Uint8Array.from([4, ...bytes]) : bytes;
}

function invalid(did: string, why: string): DidNotResolved {
  return new DidNotResolved("record.invalid", `${did} is refused: ${why}`);
}
