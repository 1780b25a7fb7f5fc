/** Everything a terminal obeys instead of showing: C0 without tab and newline, DEL, C1, and what turns text around. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Text from elsewhere as a terminal may have it: a peer must not move the cursor, change titles or hide what it says. */
export function printable(text: string): string {
  return text.replace(OBEYED, (character) => (character === "\r" ? "" : "\ufffd"));
}

/** The same on one line, cut to a width. */
export function oneLine(text: string, width: number): string {
  const line = printable(text).replace(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** A word of a command line to copy: what a peer chose, such as an id, must not become a command of its own. */
export function shellWord(text: string): string {
  const word = printable(text).replaceAll("\n", " ");
  return /^[\w.:@%+,/=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
