/** The baseline: a keyword count. It measures the cost of reading the text, not correctness. */

const WORDS: { readonly [protocol: string]: readonly string[] } = {
  A2A: ["chat", "dialogue", "conversation", "talk", "turn", "stream", "live", "instant", "voice", "subscribers"],
  ACP: ["record", "resource", "upload", "batch", "job", "progress", "retry", "archive", "update", "delete"],
  Agora: ["procedure", "rule", "vote", "version", "protocol", "approve", "edition", "committee", "quorum", "negotiate"],
  ANP: ["identity", "encrypted", "signed", "partner", "secret", "confidential", "prove", "consent", "key", "tamper"],
};

const PROTOCOLS = Object.keys(WORDS);
const PLACES = new Map(Object.values(WORDS).flatMap((words, place) => words.map((word) => [word, place] as const)));

/** The protocol with the most keywords in the text; the first of the list if there are none. */
export function byKeywords(text: string): string {
  const counts = PROTOCOLS.map(() => 0);
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const place = PLACES.get(word);
    if (place !== undefined) counts[place] = (counts[place] ?? 0) + 1;
  }
  return PROTOCOLS[counts.indexOf(Math.max(...counts))] ?? "";
}
