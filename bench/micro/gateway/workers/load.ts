import { type RequestTemplate, runHttpLoad } from "../../../harness/http-load.js";
import type { Slice, Window } from "../../../harness/tally.js";
import { answerCommands } from "../../../harness/worker.js";

/** The load process for HTTP/1.1 with texts: raw sockets, every answer read and checked. */

export interface LoadRun {
  readonly template: RequestTemplate;
  readonly connections: number;
  readonly window: Window;
}

answerCommands({
  run: ({ template, connections, window }: LoadRun): Promise<Slice> => runHttpLoad(template, connections, window),
});
