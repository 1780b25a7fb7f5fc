const ROW = 16;
/** Limit of the dump of one body, to keep the page fast. */
const DUMP_BYTES = 16 * 1024;

/** Formats bytes as offset, hex and printable ASCII. */
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

/** Decodes base64; undefined if it is invalid. */
export function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (unit) => unit.charCodeAt(0));
  } catch {
    return undefined;
  }
}
