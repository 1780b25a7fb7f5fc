/** C0 without tab and newline, DEL, C1, and bidirectional controls. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Untrusted text without control characters: a peer must not move the cursor, change titles or hide text. */
export function printable(text: string): string {
  return text.replace(CONTROL_CHARACTERS, (character) => (character === "\r" ? "" : "\ufffd"));
}

/** The same on one line, cut to a width. */
export function oneLine(text: string, width: number): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** Quotes a word of a command line to copy: an id chosen by a peer must not become a command. */
export function shellWord(text: string): string {
  const word = printable(text).replaceAll("\n", " ");
  return /^[\w.:@%+,/=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
