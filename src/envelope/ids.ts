/** Identity and time, injected: everything that needs an id or the time of day takes it from here. */
export interface IdSource {
  /** Milliseconds since the epoch. */
  now(): number;
  newId(): string;
  /** The id of a new task. A store writes less if later ones sort after earlier ones. Default: `newId`. */
  newTaskId?(): string;
}

const BYTES_PER_ID = 16;
/** Random bytes are drawn for this many ids at once: each draw costs as much as several ids. */
const IDS_PER_DRAW = 256;
const random = new Uint8Array(IDS_PER_DRAW * BYTES_PER_ID);
let used = random.length;

const codesOf = (text: string): number[] => Array.from(text, (character) => character.charCodeAt(0));
const DIGITS = codesOf("0123456789abcdef");
const codes = codesOf("00000000-0000-0000-0000-000000000000");
/** Where the two digits of each byte begin. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** A random UUID (RFC 9562 §5.4), in less than half the time of `crypto.randomUUID`: an answer has two or more. */
function newId(): string {
  if (used === random.length) draw();
  used += BYTES_PER_ID;
  return uuidText(random, used - BYTES_PER_ID);
}

/** The text of a UUID whose 16 bytes begin here. */
export function uuidText(bytes: Uint8Array, start = 0): string {
  let at = start;
  for (const place of PLACES) {
    const byte = bytes[at++] as number; // a UUID has as many bytes as places
    codes[place] = DIGITS[byte >> 4] as number; // a byte has two digits
    codes[place + 1] = DIGITS[byte & 15] as number;
  }
  // One flat string: joined pieces would be copied again when they are written.
  return String.fromCharCode(...codes);
}

/** A UUID of the time and 74 random bits (RFC 9562 §5.7). */
function newTaskId(): string {
  if (used === random.length) draw();
  let rest = Date.now();
  for (let place = used + 5; place >= used; place--) {
    random[place] = rest;
    rest = Math.floor(rest / 256);
  }
  random[used + 6] = (random[used + 6] as number) | 0x30; // version 4 becomes 7
  return newId();
}

function draw(): void {
  crypto.getRandomValues(random);
  for (let start = 0; start < random.length; start += BYTES_PER_ID) {
    // Version 4, variant 10.
    random[start + 6] = ((random[start + 6] as number) & 0x0f) | 0x40; // within the length
    random[start + 8] = ((random[start + 8] as number) & 0x3f) | 0x80;
  }
  used = 0;
}

/** The system's clock, and random UUIDs; those of tasks begin with the time. */
export const systemIds = { now: () => Date.now(), newId, newTaskId } as const satisfies IdSource;
