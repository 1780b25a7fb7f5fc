import { join } from "node:path";
import {
  agreementTable,
  FILES,
  FolderError,
  judgeByModel,
  judgementTables,
  openModel,
  readEvents,
  readMemories,
  renderTables,
  retrying,
  safety,
  summariseByModel,
  writeJudgements,
} from "../../bench/protocols/index.js";
import { aboutFolder } from "./bench-folders.js";
import { LIMITS } from "./bench-settings.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format } from "./output.js";
import { printable } from "./printable.js";
import { startProgress } from "./progress.js";

interface ReaderOptions {
  readonly output: Format;
  readonly modelUrl?: string;
  readonly model?: string;
  readonly modelKeyEnv?: string;
  readonly modelRate?: number;
}

const TIMES = 3;
const MAX_TIMES = 25;

/** `koine bench judge DIR`. */
export async function judge(folder: string, options: ReaderOptions & { readonly times?: number }): Promise<void> {
  const { times = TIMES } = options;
  if (times < 1 || times > MAX_TIMES) throw usageError(`--times takes a number from 1 to ${MAX_TIMES}, not ${times}`);
  const output = createOutput(options.output);
  const reader = await readerOf(options);
  if (reader === undefined) throw usageError("judging needs a model", "Give --model-url and --model.");
  const interrupt = listenForInterrupt();
  const progress = startProgress({ stream: output.stderr });
  const voter = {
    ...reader,
    times,
    signal: interrupt.signal,
    onProgress: (done: number, of: number) => progress.show("judging", `${done + 1} of ${of}`),
  };
  try {
    const isSafety = await aboutFolder(async () => safety.isSafetyFolder(folder));
    const { judgements, tables } = isSafety ? await judgeSafety(folder, voter) : await judgeTeams(folder, voter);
    progress.stop();
    if (output.format === "json") await output.document(judgements);
    else await output.text(renderTables(tables));
    if (!judgements.complete)
      throw new CliError(EXIT.interrupted, `interrupted: ${judgements.judged.length} judgements are in ${printable(folder)}`, {
        code: "cancelled",
      });
  } finally {
    progress.stop();
    interrupt.stop();
  }
}

type Judge = Parameters<typeof judgeByModel>[1];

async function judgeTeams(folder: string, voter: Judge) {
  const events = await eventsIn(folder);
  const judgements = await aboutEvents(() => judgeByModel(events, voter));
  writeJudgements(folder, judgements);
  return { judgements, tables: judgementTables(judgements) };
}

async function judgeSafety(folder: string, voter: Judge) {
  const attempts = await aboutFolder(() => safety.readAttempts(folder));
  const judgements = await safety.judgeAttempts(folder, attempts, voter);
  safety.writeSafetyJudgements(folder, judgements);
  const { summary, model, times } = judgements;
  const title = `${summary.attempts} attempts, judged by ${model}, ${times} times each: agreement about their outcome`;
  return { judgements, tables: [agreementTable(title, summary.agreement, summary.unreadable)] };
}

/** `koine bench memory DIR [TASK]`. */
export async function memory(folder: string, task: string | undefined, options: ReaderOptions): Promise<void> {
  const output = createOutput(options.output);
  const reader = await readerOf(options);
  const events = await eventsIn(folder);
  const interrupt = listenForInterrupt();
  try {
    const { signal } = interrupt;
    const found = await aboutEvents(() =>
      readMemories(events, {
        task,
        ...(reader && { summarise: (question, own) => summariseByModel(question, own, { model: reader.model, signal }) }),
      }),
    );
    if (found.length === 0) throw usageError(`${printable(folder)} has no question ${printable(task ?? "")}`.trim());
    if (output.format === "json") await output.document(found);
    else
      for (const { run, arm, task_id, summary, replayed, differences } of found) {
        const again = `replayed: ${replayed ?? "none"}${differences.length === 0 ? "" : `; ${differences.join("; ")}`}`;
        await output.text(`${printable(`${run} ${arm} ${task_id}: ${summary}`)}\n  ${printable(again)}\n`);
      }
  } finally {
    interrupt.stop();
  }
}

/** The model that reads a result; undefined if none is named. */
async function readerOf({ modelUrl, model, modelKeyEnv, modelRate }: ReaderOptions) {
  if (modelUrl === undefined && model === undefined) return undefined;
  if (modelUrl === undefined || model === undefined)
    throw usageError("a model needs its server and its name", "Give --model-url and --model.");
  const limits = { keyEnv: modelKeyEnv, requestsPerSecond: modelRate, timeoutMs: LIMITS.messageTimeoutMs };
  return { name: model, model: retrying(await openModel({ kind: "live", baseUrl: modelUrl, model, ...limits })) };
}

function eventsIn(folder: string) {
  return aboutEvents(async () => (await readEvents(join(folder, FILES.events))).events);
}

/** Events that are missing, damaged or of another scenario are a wrong folder. */
function aboutEvents<T>(work: () => Promise<T>): Promise<T> {
  return aboutFolder(() =>
    work().catch((thrown: unknown) => {
      if (thrown instanceof Error && thrown.name === "Error") throw new FolderError(thrown.message);
      throw thrown;
    }),
  );
}
