/** The first buffer, and the size beyond which one is not kept for the next message. */
const KEPT_BYTES = 64 * 1024;
/** The longest varint: 64 bits. */
const VARINT_BYTES = 10;

/**
 * Writes protobuf from its end to its beginning: a value, then its length, then its tag. The length of a nested message is known when it is
 * written, so nothing is moved and no piece is a buffer of its own.
 */
export class ReverseWriter {
  #bytes = Buffer.allocUnsafe(KEPT_BYTES);
  /** The first written byte. */
  #at = KEPT_BYTES;

  /** How much is written. */
  get size(): number {
    return this.#bytes.length - this.#at;
  }

  /** A whole number of 32 bits without a sign. */
  uint32(value: number): void {
    this.#reserve(VARINT_BYTES);
    let at = this.#at - (value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5);
    this.#at = at;
    for (; value > 0x7f; value >>>= 7) this.#bytes[at++] = (value & 0x7f) | 0x80;
    this.#bytes[at] = value;
  }

  /** Throws a RangeError if the value is not a whole number of 32 bits. */
  int32(value: number): void {
    if ((value | 0) !== value) throw new RangeError(`${value} is not a whole number of 32 bits`);
    if (value >= 0) this.uint32(value);
    else this.int64(value);
  }

  /** A whole number. */
  int64(value: number): void {
    this.#reserve(VARINT_BYTES);
    const groups: number[] = [];
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) groups.push(Number(rest & 0x7fn) | 0x80);
    groups.push(Number(rest));
    this.#at -= groups.length;
    this.#bytes.set(groups, this.#at);
  }

  bool(value: boolean): void {
    this.uint32(value ? 1 : 0);
  }

  double(value: number): void {
    this.#reserve(8);
    this.#at -= 8;
    this.#bytes.writeDoubleLE(value, this.#at);
  }

  /** With its length. */
  string(text: string): void {
    const length = Buffer.byteLength(text);
    this.#reserve(length);
    this.#at -= length;
    // The same bytes, in an encoding that is written faster.
    this.#bytes.write(text, this.#at, length, length === text.length ? "latin1" : "utf8");
    this.uint32(length);
  }

  /** With their length. */
  bytes(value: Uint8Array): void {
    this.raw(value);
    this.uint32(value.length);
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#at -= value.length;
    this.#bytes.set(value, this.#at);
  }

  /** The length of what was written since the writer had this size. */
  lengthSince(size: number): void {
    this.uint32(this.size - size);
  }

  /** All that was written. The writer is empty then. */
  take(): Uint8Array {
    const written = Buffer.allocUnsafe(this.size);
    this.#bytes.copy(written, 0, this.#at);
    this.clear();
    return written;
  }

  clear(): void {
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafe(KEPT_BYTES);
    this.#at = this.#bytes.length;
  }

  #reserve(room: number): void {
    if (this.#at >= room) return;
    const { size } = this;
    const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, size + room));
    this.#bytes.copy(larger, larger.length - size, this.#at);
    this.#bytes = larger;
    this.#at = larger.length - size;
  }
}
