import { AgentError, connect, type Interface, type Json } from "../../src/index.js";
import type { PageMessage } from "../dashboard/index.js";
import { OWN_HEADER, type OwnCaller } from "./own-caller.js";
import { plainJson } from "./page-tasks.js";

const SEND_MS = 120_000;

interface SendParts {
  readonly own: OwnCaller;
  home(): string;
  readonly secure: boolean;
}

/** A message from the page, through the gateway's own port, as everybody else's. */
export async function* sendFromPage(
  { way, text, stream }: PageMessage,
  ways: readonly Interface[],
  { own, home, secure }: SendParts,
  signal: AbortSignal,
): AsyncGenerator<Json, void, void> {
  const found = ways.find(({ protocol, version, binding }) => way === `${protocol}@${version}/${binding}`);
  if (found === undefined) throw new AgentError("not_found", `${JSON.stringify(way)} is no way to this agent`);
  if (secure) throw new AgentError("unsupported", "the page cannot call a gateway under TLS: its certificate is for others");
  const remote = await connect(atHome(found.url, home()), {
    as: "page",
    pin: way,
    credentials: { headers: { [OWN_HEADER]: own.secret } },
    timeoutMs: SEND_MS,
  });
  try {
    if (!stream) {
      yield plainJson(await remote.send(text, { signal }));
      return;
    }
    for await (const event of remote.stream(text, { signal })) yield plainJson(event);
  } finally {
    await remote.close();
  }
}

/** The same path on this machine: the public address may lead through somebody else. */
function atHome(url: string, home: string): string {
  const path = /^[a-z]+:\/\//i.test(url) ? new URL(url).pathname : "";
  return `${home}${path === "/" ? "" : path}`;
}
