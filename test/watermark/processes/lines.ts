import { createInterface } from "node:readline";

/** Secrets and texts arrive by stdin: arguments and environments are visible to others. */
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();

/** The facts with which a process starts. */
export async function firstLine(): Promise<string> {
  const { value } = await lines.next();
  return value ?? "{}";
}

/** Answers each further line `<word> <rest>` with one line. A failure is a line `failed …`. */
export function answerLines(words: { readonly [word: string]: (rest: string) => Promise<string> }): void {
  void (async () => {
    for (let step = await lines.next(); step.done !== true; step = await lines.next()) {
      const [word = "", ...rest] = step.value.split(" ");
      const answer = await (words[word]?.(rest.join(" ")) ?? Promise.reject(new Error(`${word}?`))).catch(
        (thrown: unknown) => `failed ${String(thrown)}`,
      );
      process.stdout.write(`${answer}\n`);
    }
  })();
}
