import { type RequestTemplate, runHttpLoad, runHttpTurns } from "../../../harness/http-load.js";
import type { Slice, Window } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";
import { runSingleCalls } from "../single-calls.js";

/** The load process for callers that speak HTTP/1.1: raw sockets, every answer read and checked. */

export interface LoadRun {
  readonly template: RequestTemplate;
  readonly connections: number;
  readonly window: Window;
}

answerCommands({
  run: ({ template, connections, window }: LoadRun): Promise<Slice> => runHttpLoad(template, connections, window),
  turns: runHttpTurns,
  calls: runSingleCalls,
});
