/** The few forms of DER (X.690) that certificates and revocation lists consist of. */

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  bytes: 0x04,
  oid: 0x06,
  text: 0x0c,
  time: 0x18,
  list: 0x30,
  set: 0x31,
} as const;

export type Der = Uint8Array;

function element(tag: number, content: Uint8Array): Der {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const digits = Buffer.from(length.toString(16).padStart(length > 0xffff ? 6 : length > 0xff ? 4 : 2, "0"), "hex");
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content]);
}

export const list = (...items: readonly Der[]): Der => element(TAGS.list, Buffer.concat(items));
export const set = (...items: readonly Der[]): Der => element(TAGS.set, Buffer.concat(items));
export const bytes = (content: Uint8Array): Der => element(TAGS.bytes, content);
export const bits = (content: Uint8Array, unused = 0): Der => element(TAGS.bits, Buffer.concat([Buffer.from([unused]), content]));
export const text = (content: string): Der => element(TAGS.text, Buffer.from(content));
export const yes: Der = element(TAGS.boolean, Buffer.from([0xff]));

/** An unsigned number, big-endian. */
export function integer(content: Uint8Array): Der {
  const first = content[0] ?? 0;
  return element(TAGS.integer, first & 0x80 ? Buffer.concat([Buffer.alloc(1), content]) : content);
}

/** `2.5.29.15`. */
export function oid(dotted: string): Der {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  const digits = rest.flatMap((value) => {
    const sevens = [value & 0x7f];
    for (let left = value >>> 7; left > 0; left >>>= 7) sevens.unshift((left & 0x7f) | 0x80);
    return sevens;
  });
  return element(TAGS.oid, Buffer.from([first * 40 + second, ...digits]));
}

/** GeneralizedTime: years before 2050 should be UTCTime (RFC 5280), which verifiers do not insist on. */
export function time(at: Date): Der {
  return element(
    TAGS.time,
    Buffer.from(
      `${at
        .toISOString()
        .replaceAll(/[-:T]|\.\d+/g, "")
        .slice(0, 14)}Z`,
    ),
  );
}

/** `[number]`, constructed or with bytes of its own. */
export function tagged(number: number, content: Uint8Array, constructed = true): Der {
  return element((constructed ? 0xa0 : 0x80) | number, content);
}

export function pem(label: string, content: Uint8Array): string {
  const lines =
    Buffer.from(content)
      .toString("base64")
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
