import { dashboardRoutes } from "../../apps/dashboard/index.js";
import { AgentError, systemIds } from "../../src/envelope/index.js";
import { front } from "../../src/protocols/front.js";
import { createHost, type FrontHost } from "../../src/protocols/host.js";
import type { CapturedMessage } from "../../src/public/inspect.js";
import { DEFAULT_LIMITS } from "../../src/transport/index.js";
import { type Listening, listen } from "../../src/transport/node/index.js";
import { FakeConsole } from "./fake-console.js";
import { FakeMessages, storyOf } from "./fake-messages.js";

export const TOKEN = "only-for-this-test";

/** A host without agents. */
export function closedHost(): FrontHost {
  return createHost({ handler: () => Promise.reject(new AgentError("not_found", "no agents")), cards: [], ids: systemIds });
}

export interface ServedPage {
  readonly url: string;
  readonly console: FakeConsole;
  readonly messages: FakeMessages;
  close(): Promise<void>;
}

/** The page's real routes on a real port, over a fake network. */
export async function servePage(
  captured: readonly CapturedMessage[] = storyOf(),
  token: string | undefined = TOKEN,
): Promise<ServedPage> {
  const console = new FakeConsole();
  const messages = new FakeMessages(captured);
  const routes = [...dashboardRoutes(console, { token }), ...messages.routes()];
  const listening: Listening = await listen(front(closedHost(), [], routes), {
    port: 0,
    limits: { ...DEFAULT_LIMITS, drainMs: 200 },
  });
  return { url: listening.url, console, messages, close: () => listening.close() };
}
