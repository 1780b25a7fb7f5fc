import { constants, inflateRawSync } from "node:zlib";

/** The forms in which a text is looked for. */
export const FORMS = ["raw", "utf-16", "base64", "hex", "url", "gzip"] as const;
export type Form = (typeof FORMS)[number];

/** A text in one of its forms. */
export interface Needle<Name extends string = Form> {
  readonly form: Name;
  readonly bytes: Buffer;
}

/** What one gzip stream may unpack to. */
const UNPACKED_BYTES = 16 * 1024 * 1024;
/** Beginnings of gzip streams that are tried in one search. */
const GZIP_TRIES = 1_000;

/** A visible text that occurs nowhere else, so that every form of it is known. */
export function needlesOf(text: string): readonly Needle[] {
  if (!/^[\x20-\x7e]{8,}$/.test(text)) throw new Error("only visible ASCII of at least eight characters can be looked for");
  const plain = Buffer.from(text, "latin1");
  const hex = plain.toString("hex");
  const encoded: readonly (readonly [Form, string])[] = [
    ["raw", text],
    ...base64sOf(plain).map((each) => ["base64", each] as const),
    ["hex", hex],
    ["hex", hex.toUpperCase()],
    ...urlForms(text).map((each) => ["url", each] as const),
  ];
  return [
    ...encoded.map(([form, each]) => ({ form, bytes: Buffer.from(each, "latin1") })),
    { form: "utf-16", bytes: Buffer.from(text, "utf16le") },
  ];
}

/** The forms in which the text occurs in the bytes, packed ones included. */
export function formsIn(text: string, bytes: Buffer): ReadonlySet<Form> {
  const needles = needlesOf(text);
  const found = new Set<Form>(plainForms(needles, bytes));
  for (const unpacked of gunzipped(bytes)) if (plainForms(needles, unpacked).length > 0) found.add("gzip");
  return found;
}

function plainForms(needles: readonly Needle[], bytes: Buffer): readonly Form[] {
  return needles.filter((needle) => bytes.includes(needle.bytes)).map(({ form }) => form);
}

/** What is the same whatever surrounds the bytes: for each place in a group of three bytes, in both alphabets. */
function base64sOf(plain: Buffer): readonly string[] {
  const standard = [0, 1, 2].map((before) => {
    const characters = Buffer.concat([Buffer.alloc(before), plain]).toString("base64");
    return characters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + plain.length) * 8) / 6));
  });
  const urlSafe = standard.map((each) => each.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set([...standard, ...urlSafe])];
}

/** Only forms that differ from the text itself. */
function urlForms(text: string): readonly string[] {
  const component = encodeURIComponent(text);
  const all = Buffer.from(text, "latin1")
    .toString("hex")
    .replaceAll(/../g, (pair) => `%${pair}`);
  return [component, component.replaceAll("%20", "+"), all, all.toUpperCase()].filter((each) => each !== text);
}

/** The content of every gzip stream in the bytes, cut ones included. */
function gunzipped(bytes: Buffer): readonly Buffer[] {
  const unpacked: Buffer[] = [];
  for (let at = bytes.indexOf(MAGIC); at >= 0 && unpacked.length < GZIP_TRIES; at = bytes.indexOf(MAGIC, at + 1))
    unpacked.push(unpackedFrom(bytes.subarray(at)));
  return unpacked;
}

/** Identification and method of a stream (RFC 1952). */
const MAGIC = Buffer.from([0x1f, 0x8b, 0x08]);
const FLAGS_AT = 3;
const HEADER_BYTES = 10;
const FLAGS = { checksum: 0x02, extra: 0x04, name: 0x08, comment: 0x10 } as const;

/** As much as can be unpacked. What comes after the stream belongs to others: only its deflate part is read. */
function unpackedFrom(bytes: Buffer): Buffer {
  try {
    const options = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: UNPACKED_BYTES };
    return inflateRawSync(bytes.subarray(deflateAt(bytes)), options);
  } catch {
    // Three bytes that look like a stream are none.
    return Buffer.alloc(0);
  }
}

function deflateAt(bytes: Buffer): number {
  const flags = bytes[FLAGS_AT] ?? 0;
  let at = HEADER_BYTES;
  if (flags & FLAGS.extra) at += 2 + bytes.readUInt16LE(at);
  for (const flag of [FLAGS.name, FLAGS.comment]) if (flags & flag) at = bytes.indexOf(0, at) + 1;
  return flags & FLAGS.checksum ? at + 2 : at;
}
