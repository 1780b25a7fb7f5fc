import type { Maybe } from "../../../envelope/index.js";
import { DidNotResolved } from "../errors.js";

/** The networks by the id of their chain. */
export const NETWORKS = {
  ethereum: 1,
  kaia: 8_217,
  sepolia: 11_155_111,
  kairos: 1_001,
  local: 31_337,
} as const satisfies Record<string, number>;

export type Network = keyof typeof NETWORKS;

/** The parts of `did:sage:<network>:<account>`. */
export interface SageDid {
  readonly did: string;
  readonly network: Network;
  /** `0x` and 40 digits in lower case. */
  readonly account: string;
}

export const METHOD = "sage";
const DID = /^did:sage:([a-z]{1,16}):(0x[0-9a-f]{40})$/;
const ACCOUNT = /^0x[0-9a-f]{40}$/;

export function isNetwork(name: string): name is Network {
  return Object.hasOwn(NETWORKS, name);
}

/** Whether a text is an account or a contract in the one spelling that is used here. */
export function isAccount(text: string): boolean {
  return ACCOUNT.test(text);
}

/** Undefined if the text is no did:sage. A DID has one spelling, in lower case. */
export function parseSageDid(text: string): Maybe<SageDid> {
  const [, network = "", account = ""] = DID.exec(text) ?? [];
  return isNetwork(network) ? { did: text, network, account } : undefined;
}

/** Throws ErrDIDNotResolved if the text is no did:sage. */
export function checkedSageDid(text: string): SageDid {
  const parsed = parseSageDid(text);
  if (parsed !== undefined) return parsed;
  const shown = JSON.stringify(text.slice(0, 200));
  const [, network] = /^did:sage:([a-z0-9]{1,32}):0x[0-9a-f]{40}$/.exec(text) ?? [];
  if (network !== undefined)
    throw new DidNotResolved(
      "id.unknown-kind",
      `${shown}: there is no network ${network}; known are ${Object.keys(NETWORKS).join(", ")}`,
    );
  throw new DidNotResolved("id.malformed", `${shown} is not did:sage:NETWORK:0x and 40 hexadecimal digits, in lower case`);
}

export function sageDidOf(network: Network, account: string): string {
  return `did:${METHOD}:${network}:${account}`;
}
