import { createHash } from "node:crypto";
import { createTestClient, encodeAbiParameters, encodePacked, http, keccak256, publicActions, walletActions } from "viem";
import { foundry } from "viem/chains";
import { AgentCardRegistry } from "../../src/protocols/sage/chain/agent-card-registry.js";
import { accountOf } from "../../src/protocols/sage/identity/account.js";
import { type DevChain, deployFrom } from "../../src/protocols/sage/node/dev-chain.js";
import { toHex } from "../../src/protocols/sage/registry/operations.js";
import type { LocalIdentity, PublicKey } from "../../src/security/identity/index.js";
import type { Compiled } from "./compile.js";
import { rpc } from "./registries.js";

/** An AgentCardRegistry on a development chain, and what its users do with it. */

export type Hex = `0x${string}`;
const SALT = `0x${"11".repeat(32)}` as const;
const CHAIN_ID = 31_337n;
const TYPES: { readonly [kind: string]: number } = { secp256k1: 0, Ed25519: 1, X25519: 2 };

export interface NewCard {
  readonly did?: string;
  readonly keys?: readonly PublicKey[];
  readonly proofs?: readonly Hex[];
}

export class AgentCardChain {
  readonly chain: DevChain;
  readonly address: Hex;
  readonly reader: AgentCardRegistry;
  readonly #abi: readonly unknown[];

  private constructor(chain: DevChain, address: Hex, abi: readonly unknown[]) {
    this.chain = chain;
    this.address = address;
    this.#abi = abi;
    this.reader = new AgentCardRegistry({ network: "local", rpc: chain.rpc, registry: address });
  }

  static async deploy(chain: DevChain, { registry, hook }: { readonly registry: Compiled; readonly hook?: Compiled }) {
    const hookAddress = hook === undefined ? `0x${"0".repeat(40)}` : await deployFrom(chain.rpc, hook);
    const address = (await deployFrom(chain.rpc, { ...registry, args: [hookAddress] })) as Hex;
    const cards = new AgentCardChain(chain, address, registry.abi);
    const [owner] = (await rpc(chain, "eth_accounts", [])) as [Hex];
    await cards.write(owner, "setRegistrationStake", [0n]);
    await cards.write(owner, "setActivationDelay", [0n]);
    return cards;
  }

  close(): Promise<void> {
    return this.reader.close();
  }

  client() {
    return createTestClient({ chain: foundry, mode: "anvil", transport: http(this.chain.rpc), cacheTime: 0 })
      .extend(publicActions)
      .extend(walletActions);
  }

  async write(account: Hex, functionName: string, args: readonly unknown[]): Promise<void> {
    const { address } = this;
    // Not estimated: what a transaction costs depends on the second in which it is mined.
    const hash = await this.client().writeContract({ address, abi: this.#abi, functionName, args, account, gas: 5_000_000n });
    const { status } = await this.client().waitForTransactionReceipt({ hash, pollingInterval: 20 });
    if (status !== "success") throw new Error(`${functionName} was reverted`);
  }

  read(functionName: string, args: readonly unknown[]): Promise<unknown> {
    return this.client().readContract({ address: this.address, abi: this.#abi, functionName, args });
  }

  /** The proof that this registry takes for a key. */
  async proofOf(identity: LocalIdentity, key: PublicKey): Promise<Hex> {
    const account = await accountOf(identity);
    const place = [CHAIN_ID, this.address, account.address as Hex] as const;
    if (key.kind === "Ed25519") {
      const text = `SAGE-PoP:${identity.did}:${Buffer.from(key.bytes).toString("hex")}`;
      return toHex(await identity.sign(key.id, createHash("sha256").update(text).digest()));
    }
    const hash =
      key.kind === "X25519"
        ? keccak256(
            encodePacked(
              ["string", "bytes", "uint256", "address", "address"],
              ["SAGE X25519 Ownership:", toHex(key.bytes), ...place],
            ),
          )
        : keccak256(encodePacked(["string", "uint256", "address", "address"], ["SAGE Agent Registration:", ...place]));
    const { r, s, yParity } = await account.signKeccak(ethSigned(hash));
    return toHex(Uint8Array.from([...r, ...s, 27 + yParity]));
  }

  /** An account that can pay, without its key. */
  async account(identity: LocalIdentity): Promise<Hex> {
    const address = (await accountOf(identity)).address as Hex;
    await this.client().setBalance({ address, value: 10n ** 18n });
    await this.client().impersonateAccount({ address });
    return address;
  }

  /** Registers without activating. */
  async register(identity: LocalIdentity, { did = identity.did, keys = identity.keys(), proofs }: NewCard = {}) {
    const account = await this.account(identity);
    const data = keys.map(({ bytes }) => toHex(bytes));
    const types = [
      { type: "string" },
      { type: "bytes[]" },
      { type: "address" },
      { type: "bytes32" },
      { type: "uint256" },
    ] as const;
    await this.write(account, "commitRegistration", [
      keccak256(encodeAbiParameters(types, [did, data, account, SALT, CHAIN_ID])),
    ]);
    await rpc(this.chain, "evm_increaseTime", [61]);
    await rpc(this.chain, "anvil_mine", ["0x1"]);
    const signatures = proofs ?? (await Promise.all(keys.map((key) => this.proofOf(identity, key))));
    const keyTypes = keys.map(({ kind }) => TYPES[kind]);
    const texts = { did, name: "a", description: "", endpoint: "https://card.example", capabilities: "" };
    await this.write(account, "registerAgentWithParams", [{ ...texts, keys: data, keyTypes, signatures, salt: SALT }]);
    return { account, agentId: (await this.read("didToAgentId", [did])) as Hex };
  }

  async active(identity: LocalIdentity, card: NewCard = {}) {
    const registered = await this.register(identity, card);
    await this.write(registered.account, "activateAgent", [registered.agentId]);
    return registered;
  }
}

function ethSigned(hash: Hex): Uint8Array {
  return Buffer.concat([Buffer.from("\x19Ethereum Signed Message:\n32"), Buffer.from(hash.slice(2), "hex")]);
}

/** The key of a kind, and its hash in the contract. */
export function keyOf(identity: LocalIdentity, kind: PublicKey["kind"]) {
  const key = identity.keys().find((each) => each.kind === kind);
  if (key === undefined) throw new Error(`no ${kind} key`);
  const data = toHex(key.bytes);
  const hash = keccak256(data);
  return { key, data, hash, id: `${identity.did}#key-${hash.slice(2, 34)}` };
}
