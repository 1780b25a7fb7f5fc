import { createInterface } from "node:readline/promises";
import type { Decision, Features, Module } from "../../src/router/index.js";
import { oneLine } from "./printable.js";

/** Something that is no number of the list is asked about again, this often in all. */
const TRIES = 3;
const SHOWN_CHARACTERS = 400;

export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  /** Questions go here: data goes elsewhere. */
  readonly output: NodeJS.WritableStream;
}

/** What the text did not decide: one module, or all of a scenario together. */
export interface Undecided {
  readonly name: string;
  /** What the answer settles. */
  readonly decisions: readonly Decision[];
  readonly modules: readonly Module[];
  /** What every hard constraint lets through. */
  readonly feasible: readonly Features[];
}

/** Asks a person about each, and gives the decisions with what was chosen. Who says nothing leaves it undecided. */
export async function askPerson(
  undecided: readonly Undecided[],
  { input, output }: Terminal,
  signal: AbortSignal,
): Promise<ReadonlyMap<Decision, Decision>> {
  const answered = new Map<Decision, Decision>();
  const lines = createInterface({ input, terminal: false });
  const answers = lines[Symbol.asyncIterator]();
  const stop = (): void => lines.close();
  signal.addEventListener("abort", stop);
  try {
    for (const question of undecided) {
      if (question.feasible.length === 0) continue;
      output.write(questionText(question));
      const chosen = await chosenBy(answers, question.feasible, output);
      if (chosen === "nobody") break;
      if (chosen !== undefined) for (const each of question.decisions) answered.set(each, withChoice(each, question, chosen));
    }
  } finally {
    signal.removeEventListener("abort", stop);
    lines.close();
  }
  return answered;
}

/** Undefined where the question is left open; `nobody` where there is nobody to answer any more. */
async function chosenBy(
  answers: AsyncIterator<string>,
  feasible: readonly Features[],
  output: NodeJS.WritableStream,
): Promise<Features | undefined | "nobody"> {
  for (let tries = 0; tries < TRIES; tries++) {
    output.write(`1 to ${feasible.length}, or nothing to leave it open: `);
    const { value, done } = await answers.next();
    if (done === true) {
      output.write("\n");
      return "nobody";
    }
    const answer = String(value).trim();
    const row = /^\d+$/.test(answer) ? feasible[Number(answer) - 1] : undefined;
    if (answer === "" || row !== undefined) return row;
  }
  return undefined;
}

function questionText({ name, modules, feasible }: Undecided): string {
  const said = modules.flatMap(({ passages }) => passages.map(({ text }) => text)).join(" ");
  const choices = feasible.map((row, index) => `  ${index + 1}  ${row.name.padEnd(6)}  made for ${oneLine(row.madeFor, 90)}`);
  return [
    `\n${oneLine(name, 100)} is not decided by its text.`,
    ...(said === "" ? [] : [`  ${oneLine(said, SHOWN_CHARACTERS)}`]),
    ...choices,
    "",
  ].join("\n");
}

/** `abstained` stays: the text alone did not decide. */
function withChoice(decision: Decision, { feasible }: Undecided, { name }: Features): Decision {
  const known = decision.rejected.filter(({ protocol }) => protocol !== name);
  const others = feasible.filter((row) => row.name !== name && known.every(({ protocol }) => protocol !== row.name));
  const rejected = [...known, ...others.map((row) => ({ protocol: row.name, because: "a person was asked and chose another" }))];
  return { ...decision, selected_protocol: name, rejected };
}
