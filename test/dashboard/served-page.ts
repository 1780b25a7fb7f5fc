import { dashboardRoutes } from "../../apps/dashboard/index.js";
import { AgentError } from "../../src/index.js";
import { compileRoutes } from "../../src/protocols/route-table.js";
import type { CapturedMessage } from "../../src/public/inspect.js";
import { DEFAULT_LIMITS, errorResponse } from "../../src/transport/index.js";
import { type Listening, listen } from "../../src/transport/node/index.js";
import { FakeConsole } from "./fake-console.js";
import { FakeMessages, storyOf } from "./fake-messages.js";

export const TOKEN = "only-for-this-test";

export interface ServedPage {
  readonly url: string;
  readonly console: FakeConsole;
  readonly messages: FakeMessages;
  close(): Promise<void>;
}

/** The page's real routes on a real port, over a network made up for the test. */
export async function servePage(
  sightings: readonly CapturedMessage[] = storyOf(),
  token: string | undefined = TOKEN,
): Promise<ServedPage> {
  const console = new FakeConsole();
  const messages = new FakeMessages(sightings);
  const routes = [...dashboardRoutes(console, { token }), ...messages.routes()];
  const table = compileRoutes(routes.map(({ route, exchange }) => ({ owner: "the house", route, exchange })));
  const nobody = new AgentError("not_found", "nobody here");
  const listening: Listening = await listen((request) => table.find(request)?.(request) ?? errorResponse(404, nobody), {
    port: 0,
    limits: { ...DEFAULT_LIMITS, drainMs: 200 },
  });
  return { url: listening.url, console, messages, close: () => listening.close() };
}
