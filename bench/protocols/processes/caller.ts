/** The caller process of the benchmark: sends the requests of a run and records them. */
import { answerCommands } from "../../harness/worker.js";
import { Caller } from "../callers/caller.js";
import type { NoteEvent, RequestEvent } from "../result/index.js";
import { NoteSender } from "./notes.js";
import type { CallerTask, Configuration, PhaseDone, PhaseTask } from "./tasks.js";

const notes = new NoteSender<RequestEvent | NoteEvent>();
let caller: Caller | undefined;

answerCommands({
  async connect(task: CallerTask): Promise<Configuration> {
    caller = await Caller.open(task, notes);
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
  close: () => caller?.close(),
});
