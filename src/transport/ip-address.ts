import type { Maybe } from "../envelope/index.js";

/** The four bytes of an IPv4 address. */
export type Bytes4 = readonly [number, number, number, number];

/** The network a caller is counted under: an IPv4 address, or the /64 prefix of an IPv6 address. */
export function networkOf(address: string): string {
  const groups = address.includes(":") ? parseIpv6(address) : undefined;
  if (groups === undefined || groups[0] === 0) return address;
  return groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** Strictly four decimal numbers: the URL parser normalises other spellings (`0x7f.1`, `2130706433`, `0177.0.0.1`). */
export function parseIpv4(text: string): Maybe<Bytes4> {
  const fields = text.split(".");
  if (fields.length !== 4) return undefined;
  if (!fields.every((field) => /^(0|[1-9]\d{0,2})$/.test(field) && Number(field) <= 255)) return undefined;
  const [first = 0, second = 0, third = 0, fourth = 0] = fields.map(Number);
  return [first, second, third, fourth];
}

/** RFC 4291 §2.2: groups, one `::`, and an IPv4 tail. */
export function parseIpv6(address: string): Maybe<readonly number[]> {
  const [text = ""] = address.split("%");
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const head = parseGroups(halves[0] ?? "");
  const tail = halves.length === 2 ? parseGroups(halves[1] ?? "") : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...new Array<number>(missing).fill(0), ...tail];
}

function parseGroups(text: string): Maybe<number[]> {
  if (text === "") return [];
  const groups: number[] = [];
  const fields = text.split(":");
  for (const [index, field] of fields.entries()) {
    if (field.includes(".") && index === fields.length - 1) {
      const v4 = parseIpv4(field);
      if (v4 === undefined) return undefined;
      groups.push((v4[0] << 8) | v4[1], (v4[2] << 8) | v4[3]);
    } else if (/^[0-9a-f]{1,4}$/i.test(field)) groups.push(Number.parseInt(field, 16));
    else return undefined;
  }
  return groups;
}
