/** As much of Protocol Buffers as the bench's own messages need. */

const LENGTH_DELIMITED = 2;

/** A length-delimited member: a text, bytes, or another message. */
export function member(number: number, content: string | Buffer): Buffer {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return Buffer.concat([varint((number << 3) | LENGTH_DELIMITED), varint(bytes.length), bytes]);
}

/** A member that is a whole number: an enumeration, a truth value. */
export function whole(number: number, value: number): Buffer {
  return Buffer.concat([varint(number << 3), varint(value)]);
}

/** A message as gRPC sends it: not compressed, with its length before it. */
export function frame(...members: readonly Buffer[]): Buffer {
  const content = Buffer.concat(members);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

/** The first length-delimited member with this number; undefined where there is none. Only kinds that the bench meets are skipped. */
export function readMember(message: Buffer, number: number): Buffer | undefined {
  for (let at = 0; at < message.length; ) {
    const tag = readVarint(message, at);
    const value = readVarint(message, tag.end);
    const kind = tag.value & 7;
    if (kind !== 0 && kind !== LENGTH_DELIMITED) throw new Error(`a member of kind ${kind}`);
    const end = kind === LENGTH_DELIMITED ? value.end + value.value : value.end;
    if (kind === LENGTH_DELIMITED && tag.value >> 3 === number) return message.subarray(value.end, end);
    at = end;
  }
  return undefined;
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 0x7f) | 0x80);
  }
}

function readVarint(message: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start, shift = 0; ; at++, shift += 7) {
    const byte = message[at];
    if (byte === undefined || shift > 28) throw new Error("a number without an end");
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { value, end: at + 1 };
  }
}
