/** What text from elsewhere must not have: characters that are obeyed instead of shown, that hide, or that turn text around. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A peer's words for people and models to read: nothing hidden in them, and no longer than asked for. */
export function plainText(text: string, limit: number): string {
  const shown = text.slice(0, limit * 2).replace(HIDDEN, "");
  return cut(shown.trim(), limit);
}

/** The same on one line. */
export function plainLine(text: string, limit: number): string {
  return plainText(text.slice(0, limit * 2).replace(/\s+/g, " "), limit);
}

/** Never between the halves of a surrogate pair: a lone half is not valid JSON text everywhere. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
