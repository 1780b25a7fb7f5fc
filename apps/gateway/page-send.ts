import { AgentError, connect, type Interface, type Json } from "../../src/index.js";
import type { PageMessage } from "../dashboard/index.js";
import { OWN_HEADER, type PageCaller } from "./page-caller.js";
import { plainJson } from "./page-tasks.js";

const SEND_MS = 120_000;

interface SendParts {
  readonly pageCaller: PageCaller;
  localUrl(): string;
  readonly secure: boolean;
}

/** Sends a message from the page through the gateway's public listener. */
export async function* sendFromPage(
  { way, text, stream }: PageMessage,
  interfaces: readonly Interface[],
  { pageCaller, localUrl, secure }: SendParts,
  signal: AbortSignal,
): AsyncGenerator<Json, void, void> {
  const found = interfaces.find(({ protocol, version, binding }) => way === `${protocol}@${version}/${binding}`);
  if (found === undefined) throw new AgentError("not_found", `Unknown interface ${JSON.stringify(way)} of this agent`);
  if (secure)
    throw new AgentError(
      "unsupported",
      "The page cannot send through a TLS listener: its certificate does not name this host. Use `koine send`.",
    );
  const remote = await connect(onLocalAddress(found.url, localUrl()), {
    as: "page",
    pin: way,
    credentials: { headers: { [OWN_HEADER]: pageCaller.secret } },
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

/** The same path on the local address: the public one may lead through a proxy. */
function onLocalAddress(url: string, local: string): string {
  const path = /^[a-z]+:\/\//i.test(url) ? new URL(url).pathname : "";
  return `${local}${path === "/" ? "" : path}`;
}
