import { answerCommands } from "../../harness/worker.js";
import type { AnswerBook } from "../callers/answer-book.js";
import { Caller } from "../callers/caller.js";
import type { NoteEvent, RequestEvent } from "../result/index.js";
import { NoteSender } from "./notes.js";
import type { CallerTask, Configuration, PhaseDone, PhaseTask } from "./tasks.js";

/** Sends the requests of a run and records them, as the driver commands. `book` decides which answers count. */
export function runCallerProcess(book?: AnswerBook): void {
  const notes = new NoteSender<RequestEvent | NoteEvent>();
  let caller: Caller | undefined;
  answerCommands({
    async connect(task: CallerTask): Promise<Configuration> {
      caller = await Caller.open(task, notes, book);
      return caller.configuration;
    },
    async phase(task: PhaseTask): Promise<PhaseDone> {
      if (caller === undefined) throw new Error("not connected");
      const done = await caller.phase(task);
      notes.flush();
      return done;
    },
    whenRecorded: (count: number) => caller?.whenRecorded(count),
    endPhase: () => caller?.endPhase(),
    /** Begins it; the notes tell how it went. */
    probe(agent: string): void {
      caller?.probe(agent).catch((thrown: unknown) => process.stderr.write(`probing ${agent}: ${String(thrown)}\n`));
    },
    close: () => caller?.close(),
  });
}
