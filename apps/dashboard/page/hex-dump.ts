const ROW = 16;
/** Shown of one body: more helps nobody, and a page must stay quick. */
const DUMP_BYTES = 16 * 1024;

/** Bytes as a dump: where, in hex, and as ASCII where it can be printed. */
export function hexDump(data: Uint8Array): string {
  const rows: string[] = [];
  for (let start = 0; start < Math.min(data.length, DUMP_BYTES); start += ROW) {
    const row = [...data.subarray(start, start + ROW)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, "0"));
    const halves = `${hex.slice(0, 8).join(" ").padEnd(23)}  ${hex.slice(8).join(" ").padEnd(23)}`;
    const ascii = row.map((byte) => (byte > 0x1f && byte < 0x7f ? String.fromCharCode(byte) : ".")).join("");
    rows.push(`${start.toString(16).padStart(6, "0")}  ${halves}  ${ascii}`);
  }
  if (data.length > DUMP_BYTES) rows.push(`… ${data.length - DUMP_BYTES} more bytes`);
  return rows.join("\n");
}

/** Base64 as bytes; undefined where it is none. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));
  } catch {
    return undefined;
  }
}
