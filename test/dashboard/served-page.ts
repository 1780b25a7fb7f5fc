import { dashboardRoutes } from "../../apps/dashboard/index.js";
import { type AdminOptions, agent, serve } from "../../src/index.js";
import type { CapturedMessage } from "../../src/public/inspect.js";
import { FakeConsole } from "./fake-console.js";
import { FakeMessages, storyOf } from "./fake-messages.js";

export const TOKEN = "only-for-this-test";

export interface ServedPage {
  /** The operator's listener. */
  readonly url: string;
  readonly callersUrl: string;
  readonly console: FakeConsole;
  readonly messages: FakeMessages;
  close(): Promise<void>;
}

/** The page's real routes on a real admin listener, over a fake network. */
export async function servePage(captured: readonly CapturedMessage[] = storyOf(), admin: AdminOptions = {}): Promise<ServedPage> {
  const console = new FakeConsole();
  const messages = new FakeMessages(captured);
  const echo = agent({ name: "echo", description: "says it again", handle: ({ text }) => text });
  const routes = [...dashboardRoutes(console, { token: TOKEN }), ...messages.routes()];
  const server = await serve(echo, { admin: { token: TOKEN, routes, ...admin }, limits: { drainMs: 200 } });
  return { url: server.admin?.url ?? "", callersUrl: server.url, console, messages, close: () => server.close() };
}
