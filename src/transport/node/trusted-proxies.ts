import { BlockList, isIP } from "node:net";
import { AgentError, type Maybe } from "../../envelope/index.js";
import type { HttpHeaders } from "../exchange.js";

/** Reverse proxies in front of a server. Only they are believed about the address of a caller. */
export interface TrustedProxies {
  /** Their addresses and networks: `10.0.0.7`, `10.0.0.0/8`, `fd00::/8`. */
  readonly addresses: readonly string[];
  /**
   * Where they state the caller's address. Nothing else is read: a proxy passes on what callers write into the others.
   * `proxy-protocol` is PROXY protocol v2, which every connection from them must then begin with. Default: `x-forwarded-for`.
   */
  readonly by?: Maybe<"x-forwarded-for" | "forwarded" | "proxy-protocol">;
  /** How many of them a request passes at most. Default: 1. */
  readonly hops?: Maybe<number>;
}

const MAX_HOPS = 16;

/** Finds the address of a caller behind trusted proxies. */
export class ProxyTrust {
  readonly by: NonNullable<TrustedProxies["by"]>;
  readonly #networks = new BlockList();
  readonly #hops: number;

  /** Throws `invalid_message` and names the invalid entry. */
  constructor({ addresses, by = "x-forwarded-for", hops = 1 }: TrustedProxies) {
    if (addresses.length === 0) throw invalid("addresses", "is empty: list the addresses of the proxies");
    if (!Number.isInteger(hops) || hops < 1 || hops > MAX_HOPS)
      throw invalid("hops", `must be a whole number from 1 to ${MAX_HOPS}`);
    if (by === "proxy-protocol" && hops !== 1) throw invalid("hops", "must be 1: PROXY protocol states one address");
    for (const network of addresses) addNetwork(this.#networks, network);
    this.by = by;
    this.#hops = hops;
  }

  trusts(address: Maybe<string>): boolean {
    const family = address === undefined ? 0 : isIP(address);
    return family !== 0 && this.#networks.check(address ?? "", family === 6 ? "ipv6" : "ipv4");
  }

  /** The address that the outermost trusted proxy has seen. What is further out was written by the caller. */
  callerOf(socketAddress: string, headers: HttpHeaders): string {
    if (this.by === "proxy-protocol") return socketAddress;
    const field = headers[this.by];
    const stated = field === undefined ? [] : this.by === "forwarded" ? addressesInForwarded(field) : field.split(",");
    let address = socketAddress;
    for (let hop = 1; hop <= this.#hops && this.trusts(address); hop++) {
      const next = bareAddress(stated.at(-hop) ?? "");
      if (next === undefined) break;
      address = next;
    }
    return address;
  }
}

/** An IP address with or without port, and with brackets if it is IPv6 with a port. Undefined for names, `unknown` and the rest. */
function bareAddress(text: string): Maybe<string> {
  const trimmed = text.trim();
  const [, inBrackets, withPort] = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(trimmed) ?? [];
  const address = inBrackets ?? withPort ?? trimmed;
  return isIP(address) === 0 ? undefined : address;
}

/** One parameter of RFC 7239 §4: a token, an equals sign, and a token or quoted string; then `;`, `,` or the end. */
const PARAMETER = /\s*(?:([!#$%&'*+.^_`|~\w-]+)=(?:([!#$%&'*+.^_`|~\w-]+)|"((?:[^"\\]|\\.)*)"))?\s*(;|,|$)/y;

/** The `for` of every element, outermost first; empty for an element without one. A malformed field states nothing. */
function addressesInForwarded(field: string): readonly string[] {
  const found: string[] = [""];
  PARAMETER.lastIndex = 0;
  for (;;) {
    const [, name, token, quoted, end] = PARAMETER.exec(field) ?? [];
    if (end === undefined) return [];
    if (name?.toLowerCase() === "for") found[found.length - 1] = token ?? (quoted ?? "").replaceAll(/\\(.)/g, "$1");
    if (end === "") return found;
    if (end === ",") found.push("");
  }
}

function addNetwork(networks: BlockList, network: string): void {
  const [, address = "", bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
  const family = isIP(address);
  const longest = family === 6 ? 128 : 32;
  if (family === 0 || Number(bits ?? 0) > longest)
    throw invalid("addresses", `has ${JSON.stringify(network)}, which is neither an IP address nor a network such as 10.0.0.0/8`);
  networks.addSubnet(address, bits === undefined ? longest : Number(bits), family === 6 ? "ipv6" : "ipv4");
}

function invalid(member: string, problem: string): AgentError {
  return new AgentError("invalid_message", `trustedProxies.${member} ${problem}`, { field: `trustedProxies.${member}` });
}
