import { z } from "zod";
import type { ShardItem } from "./item.js";
import { contains } from "./matcher.js";

/** Limits of a file of questions. */
export const SHARD_LIMITS = { bytes: 256 * 1024 * 1024, items: 100_000, textChars: 16_384 } as const;

const id = z.union([z.string().min(1).max(200), z.number()]);
const text = z.string().trim().min(1).max(SHARD_LIMITS.textChars);
const title = z.string().max(1_000);
const sentences = z.array(z.string().max(SHARD_LIMITS.textChars)).max(1_000);
const number = z.number().int().nonnegative();

/** The two ways in which HotpotQA and 2WikiMultihopQA write their paragraphs, both as pairs. */
const PARAGRAPHS = z.union([
  z.array(z.tuple([title, sentences])).max(1_000),
  z
    .object({ title: z.array(title).max(1_000), sentences: z.array(sentences).max(1_000) })
    .transform((columns) => columns.title.map((each, index) => [each, columns.sentences[index] ?? []] as const)),
]);
const FACTS = z.union([
  z.array(z.tuple([title, number])).max(1_000),
  z
    .object({ title: z.array(title).max(1_000), sent_id: z.array(number).max(1_000) })
    .transform((columns) => columns.title.map((each, index) => [each, columns.sent_id[index] ?? 0] as const)),
]);
const QUESTION = { question: text, answer: text };
const LINE = z.union([
  z.object({ ...QUESTION, id: id.optional(), content: text }).transform(({ id: own, ...line }) => ({ own, ...line })),
  z
    .object({ ...QUESTION, id: id.optional(), _id: id.optional(), context: PARAGRAPHS, supporting_facts: FACTS })
    .transform(({ id: own, _id, question, answer, context, supporting_facts: facts }) => ({
      own: own ?? _id,
      question,
      answer,
      content: facts
        .map(([of, at]) => context.find(([each]) => each === of)?.[1][at]?.trim() ?? "")
        .filter((sentence) => sentence !== "")
        .join(" ")
        .slice(0, SHARD_LIMITS.textChars),
    })),
]);

export interface ReadItems {
  readonly items: readonly ShardItem[];
  /** Questions whose answer is not in their text, for example those with yes or no. */
  readonly skipped: number;
}

/** The questions of a file, one JSON object per line. Throws Error with file and line for a line that is none. */
export function parseItems(content: string, file: string): ReadItems {
  const items: ShardItem[] = [];
  let skipped = 0;
  for (const [index, line] of content.split("\n").entries()) {
    if (line.trim() === "") continue;
    const where = `${file}:${index + 1}`;
    if (items.length >= SHARD_LIMITS.items) throw new Error(`${where}: more than ${SHARD_LIMITS.items} questions`);
    const { own, question, answer, content: fact } = parseLine(line, where);
    if (!contains(fact, answer)) {
      skipped++;
      continue;
    }
    items.push({ id: String(own ?? index + 1), question, answer, content: fact });
  }
  return { items, skipped };
}

function parseLine(line: string, where: string): z.infer<typeof LINE> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error(`${where}: not JSON`);
  }
  const read = LINE.safeParse(value);
  if (read.success) return read.data;
  throw new Error(`${where}: a question has question, answer, and content or context with supporting_facts`);
}
