import type { Client, Chain as EvmChain, PublicActions, Transport, WalletActions } from "viem";
import { AgentError } from "../../../envelope/index.js";
import type { ChainNode } from "./json-rpc.js";

/** The version that is tested. */
const VIEM = "viem@2.57.1";

/**
 * The client of EVM chains. It is an optional peer dependency, because it is larger than the rest of the package together and only
 * those need it who use a chain.
 */
export async function loadViem(
  load: () => Promise<typeof import("viem")> = () => import("viem"),
): Promise<typeof import("viem")> {
  try {
    return await load();
  } catch (thrown) {
    throw new AgentError(
      "unsupported",
      `a registry on a chain needs the package viem, which is not installed: npm install ${VIEM}`,
      {
        sent: "no",
        cause: thrown,
      },
    );
  }
}

/** A chain, and the library to use it with. */
export interface Chain {
  readonly viem: typeof import("viem");
  readonly chain: EvmChain;
  readonly client: Client<
    Transport,
    EvmChain,
    undefined,
    undefined,
    PublicActions<Transport, EvmChain> & WalletActions<EvmChain, undefined>
  >;
}

/** A viem client over our transport, which has limits. Nothing is retried, cached or batched. */
export async function chainClient(node: ChainNode, chainId: number): Promise<Chain> {
  const viem = await loadViem();
  const chain = viem.defineChain({
    id: chainId,
    name: String(chainId),
    nativeCurrency: { name: "coin", symbol: "coin", decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  const client = viem
    .createClient({ chain, transport: viem.custom(node, { retryCount: 0 }), cacheTime: 0, pollingInterval: POLLING_MS })
    .extend(viem.publicActions)
    .extend(viem.walletActions);
  return { viem, chain, client };
}

/** How often a node is asked for the receipt of a transaction. */
const POLLING_MS = 200;
