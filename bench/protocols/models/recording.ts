import { appendFile, readFile } from "node:fs/promises";
import { z } from "zod";
import { hashOf } from "../payload.js";
import type { BenchModel } from "./settings.js";

/** One recorded answer: the SHA-256 of the request, and what the model said. */
const LINE = z.strictObject({ request: z.string().regex(/^[0-9a-f]{64}$/), answer: z.string() });

/** Answers from a file. A request that is not in it is an error: another answer would be another experiment. */
export async function openRecording(file: string): Promise<BenchModel> {
  const answers = readRecording(await readFile(file, "utf8"), file);
  return {
    async answer(payload) {
      const found = answers.get(hashOf(payload));
      if (found === undefined) throw new Error(`${file} has no answer for the request ${hashOf(payload).slice(0, 12)}…`);
      return found;
    },
  };
}

/** Throws Error with file and line for a line that is no recorded answer. */
export function readRecording(text: string, file: string): ReadonlyMap<string, string> {
  const answers = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { request, answer } = readLine(line, `${file}:${index + 1}`);
    answers.set(request, answer);
  }
  return answers;
}

function readLine(line: string, where: string): z.infer<typeof LINE> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error(`${where}: not JSON`);
  }
  const read = LINE.safeParse(value);
  if (!read.success) throw new Error(`${where}: ${read.error.issues[0]?.path.join(".")}: ${read.error.issues[0]?.message}`);
  return read.data;
}

/** The same model, with every whole answer kept in a file that `openRecording` reads. */
export function recording(model: BenchModel, file: string): BenchModel {
  const keep = (payload: string, answer: string): Promise<void> =>
    appendFile(file, `${JSON.stringify({ request: hashOf(payload), answer })}\n`);
  const { stream } = model;
  return {
    async answer(payload, signal) {
      const answer = await model.answer(payload, signal);
      await keep(payload, answer);
      return answer;
    },
    ...(stream === undefined
      ? {}
      : {
          async *stream(payload: string, signal: AbortSignal) {
            let answer = "";
            for await (const piece of stream(payload, signal)) {
              answer += piece;
              yield piece;
            }
            await keep(payload, answer);
          },
        }),
  };
}
