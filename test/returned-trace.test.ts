import { afterEach, expect, test } from "vitest";
import { configFrom, openGateway } from "../apps/gateway/index.js";
import { agent, serve } from "../src/index.js";

/** A caller that sends a trace in a header gets messages of A2A alone back, without what Koine notes about them. */

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const clerk = agent({
  name: "clerk",
  description: "answers",
  async *handle(message, task) {
    yield task.working("reading");
    return task.complete(`you said: ${message.text}`);
  },
});

async function atAgent(): Promise<string> {
  return opened(await serve(clerk, { port: 0 })).url;
}

async function behindGateway(mode: "adopt" | "relay"): Promise<string> {
  const agents = [{ name: "clerk", upstream: await atAgent(), mode }];
  return opened(await openGateway(configFrom({ listen: { port: 0 }, agents }, { folder: "/nowhere", env: {} }))).url;
}

const WAYS: { readonly [way: string]: () => Promise<string> } = {
  directly: atAgent,
  "through relay": () => behindGateway("relay"),
  "through adopt": () => behindGateway("adopt"),
};
const TRACES: { readonly [kind: string]: { readonly [name: string]: string } } = {
  "with a trace": { traceparent: TRACEPARENT },
  "without a trace": {},
};

test.each(Object.keys(WAYS).flatMap((way) => Object.keys(TRACES).map((trace) => [way, trace] as const)))(
  "%s, %s",
  async (way, trace) => {
    const url = await WAYS[way]?.();
    const rpc = async (method: string, params: object): Promise<string> => {
      const headers = { "content-type": "application/json", "a2a-version": "1.0", ...TRACES[trace] };
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return (await fetch(`${url}/a2a`, { method: "POST", headers, body })).text();
    };
    const message = { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "hello" }] };
    const [sent, streamed] = [await rpc("SendMessage", { message }), await rpc("SendStreamingMessage", { message })];
    const listed = await rpc("ListTasks", { historyLength: 10, includeArtifacts: true });
    expect(sent).toContain("you said: hello");
    expect(streamed).toContain("you said: hello");
    expect(listed).toContain('"m-1"');
    for (const text of [sent, streamed, listed]) expect(text).not.toContain("urn:koine:envelope");
  },
);
