import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Fragment } from "./item.js";

const LINE = z.union([
  z.strictObject({ group: z.number().int().nonnegative(), text: z.string() }),
  z.strictObject({ key: z.string(), answer: z.string() }),
]);
/** Answers that an agent remembers; the oldest are forgotten. */
const MAX_ANSWERS = 10_000;

/** What an agent must not lose with its process: its fragments, and the answers that it gave, by idempotency key. */
export class Journal {
  readonly #path: string;
  readonly #fragments = new Map<number, string>();
  readonly #answers = new Map<string, string>();
  #lines = 0;

  constructor(folder: string) {
    this.#path = join(folder, "journal.ndjson");
  }

  /** Reads what an earlier process wrote. Returns the bytes. A line that its death cut is ignored. */
  restore(): number {
    if (!existsSync(this.#path)) return 0;
    const text = readFileSync(this.#path, "utf8");
    for (const line of text.split("\n")) {
      const read = lineOf(line);
      if (read === undefined) continue;
      this.#lines++;
      if ("group" in read) this.#fragments.set(read.group, read.text);
      else this.#answers.set(read.key, read.answer);
    }
    return Buffer.byteLength(text);
  }

  /** Replaces what was kept of the fragments. */
  keep(fragments: readonly Fragment[]): void {
    this.#fragments.clear();
    for (const { group, text } of fragments) this.#fragments.set(group, text);
    this.#rewrite();
  }

  get fragments(): readonly Fragment[] {
    return [...this.#fragments].map(([group, text]) => ({ group, text }));
  }

  fragmentOf(group: number): string | undefined {
    return this.#fragments.get(group);
  }

  answerOf(key: string): string | undefined {
    return this.#answers.get(key);
  }

  answered(key: string, answer: string): void {
    this.#answers.set(key, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > MAX_ANSWERS && oldest !== undefined) this.#answers.delete(oldest);
    if (this.#lines > this.#fragments.size + 2 * MAX_ANSWERS) {
      this.#rewrite();
      return;
    }
    // Synchronous: what was answered is known after a kill.
    appendFileSync(this.#path, `${JSON.stringify({ key, answer })}\n`);
    this.#lines++;
  }

  #rewrite(): void {
    const lines = [...this.fragments, ...[...this.#answers].map(([key, answer]) => ({ key, answer }))];
    writeFileSync(`${this.#path}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    renameSync(`${this.#path}.new`, this.#path);
    this.#lines = lines.length;
  }
}

function lineOf(line: string): z.infer<typeof LINE> | undefined {
  try {
    return LINE.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}
