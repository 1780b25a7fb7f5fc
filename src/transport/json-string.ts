/** Characters that JSON escapes (RFC 8259 §7), and surrogates, of which `JSON.stringify` escapes those without a pair. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** What stands between the quotes of a string as JSON. */
export function jsonCharacters(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}

/** A string as JSON, the same text as that of `JSON.stringify`, in less than half of its time where nothing is escaped. */
export function jsonString(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}
