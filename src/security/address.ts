import type { Maybe } from "../envelope/index.js";
import { type Bytes4, parseIpv4, parseIpv6 } from "../transport/ip-address.js";

/**
 * How private an address is. `reserved` addresses may never be reached from a document: link-local (which includes cloud metadata
 * services), multicast, and everything that is not assigned to hosts.
 */
export type AddressClass = "reserved" | "loopback" | "private" | "public";

const RANK: { readonly [K in AddressClass]: number } = { reserved: 0, loopback: 1, private: 2, public: 3 };

/** True if an address of class `to` is at least as public as one of class `from`. */
export function isAsPublic(to: AddressClass, from: AddressClass): boolean {
  return RANK[to] >= RANK[from];
}

/** The class of a literal IPv4 or IPv6 address, with or without brackets and zone; undefined for host names and any other text. */
export function addressClass(address: string): Maybe<AddressClass> {
  const text = address.startsWith("[") && address.endsWith("]") ? address.slice(1, -1) : address;
  if (!text.includes(":")) {
    const v4 = parseIpv4(text);
    return v4 && classOfIpv4(v4);
  }
  const groups = parseIpv6(text);
  return groups && classOfIpv6(groups);
}

/** IANA IPv4 special-purpose registry (RFC 6890). */
function classOfIpv4([a, b, c, d]: Bytes4): AddressClass {
  if (a === 127) return "loopback";
  if (a === 0) return b === 0 && c === 0 && d === 0 ? "loopback" : "reserved"; // connecting to 0.0.0.0 reaches this host
  if (a === 10 || (a === 172 && b >= 16 && b <= 31) || (a === 192 && b === 168)) return "private";
  if (a === 100 && b === 100 && c === 100 && d === 200) return "reserved"; // a cloud's metadata service, in shared space
  if (a === 100 && b >= 64 && b <= 127) return "private"; // shared address space, RFC 6598
  if (a === 198 && (b === 18 || b === 19)) return "private"; // benchmarking, RFC 2544
  if (a === 169 && b === 254) return "reserved"; // link-local, and the metadata services
  if (a === 168 && b === 63 && c === 129 && d === 16) return "reserved"; // public by its number, and a cloud's own service
  if (a === 192 && b === 0 && (c === 0 || c === 2)) return "reserved";
  if (a === 192 && b === 88 && c === 99) return "reserved";
  if ((a === 198 && b === 51 && c === 100) || (a === 203 && b === 0 && c === 113)) return "reserved"; // documentation
  return a >= 224 ? "reserved" : "public"; // multicast, then unassigned and broadcast
}

/** The first 32 bits of the local networks that clouds use for metadata: fd00:ec2::254, fd20:ce::254, fd00:42::42. */
const METADATA_NETWORKS: ReadonlySet<number> = new Set([0xfd000ec2, 0xfd2000ce, 0xfd000042]);

/** IANA IPv6 special-purpose registry. An embedded IPv4 address determines the class. */
function classOfIpv6(groups: readonly number[]): AddressClass {
  const [g0 = 0, g1 = 0, , , , g5 = 0, g6 = 0, g7 = 0] = groups;
  const embedded: Bytes4 = [g6 >> 8, g6 & 255, g7 >> 8, g7 & 255];
  if (groups.slice(0, 5).every((group) => group === 0)) {
    if (g5 === 0xffff) return classOfIpv4(embedded); // IPv4-mapped
    if (g5 === 0 && g6 === 0 && g7 <= 1) return "loopback"; // ::1, and :: which reaches this host
    return "reserved"; // IPv4-compatible, deprecated
  }
  if (g0 === 0x64 && g1 === 0xff9b) return groups.slice(2, 6).every((group) => group === 0) ? classOfIpv4(embedded) : "private"; // NAT64, RFC 6052 and 8215
  if ((g0 & 0xfe00) === 0xfc00) return METADATA_NETWORKS.has(g0 * 0x10000 + g1) ? "reserved" : "private"; // ULA
  if (g0 === 0x2002) return classOfIpv4([g1 >> 8, g1 & 255, (groups[2] ?? 0) >> 8, (groups[2] ?? 0) & 255]); // 6to4
  if (g0 === 0x2001 && (g1 < 0x200 || g1 === 0xdb8)) return "reserved"; // Teredo and other assignments, documentation
  if (g0 === 0x3fff && g1 < 0x1000) return "reserved"; // documentation, RFC 9637
  return (g0 & 0xe000) === 0x2000 ? "public" : "reserved"; // only 2000::/3 is global unicast
}
