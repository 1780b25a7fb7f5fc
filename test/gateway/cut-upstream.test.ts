import { afterEach, describe, expect, test } from "vitest";
import { type AgentFunction, agent, type BridgeOptions, bridge, DiscoveryCache, serve } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { interfacesOf } from "./pairs/interfaces.js";
import { startStallingProxy } from "./processes/stalling-proxy.js";

/** The connection to an upstream is cut in the middle of a stream. The upstream cannot resume: it shows its task as it is. */

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
function opened<T extends { close(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

const pins = (await interfacesOf(protocols)).filter(({ traits }) => traits.tasks && traits.streaming).map(({ pin }) => pin);
/** One interface of each protocol. */
const some = pins.filter((pin, at) => pins.findIndex((each) => each.split("@")[0] === pin.split("@")[0]) === at);
const TEST_MS = 60_000;

interface RunEvent {
  readonly type: string;
  readonly part?: { readonly content: string };
  readonly run?: { readonly run_id: string; readonly output: unknown; readonly error: { readonly message: string } | null };
}

/** Reads a run as a client of ACP does that knows nothing of Koine. */
class RunReader {
  readonly events: RunEvent[] = [];
  readonly done: Promise<void>;
  #wake: () => void = () => undefined;

  constructor(url: string) {
    this.done = this.#read(url);
  }

  get text(): string {
    return this.events.map(({ type, part }) => (type === "message.part" ? (part?.content ?? "") : "")).join("");
  }

  async until(text: string): Promise<void> {
    while (!this.text.startsWith(text))
      await new Promise<void>((resolve, reject) => {
        this.#wake = resolve;
        void this.done.then(() => reject(new Error(`the run ended after ${JSON.stringify(this.events)}`)), reject);
      });
  }

  async #read(url: string): Promise<void> {
    const input = [{ role: "user", parts: [{ content_type: "text/plain", content: "go" }] }];
    const response = await fetch(`${url}/runs`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent_name: "peer", input, mode: "stream" }),
    });
    let rest = "";
    for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) if (line.startsWith("data:")) this.events.push(JSON.parse(line.slice("data:".length)));
      this.#wake();
    }
  }
}

async function behindGateway(handle: AgentFunction, pin: string, options: BridgeOptions = {}, streaming = true) {
  const worker = agent({ name: "worker", description: "works", handle });
  const { card } = worker;
  const shown = { ...card, capabilities: { ...card.capabilities, resume: false, streaming } };
  let port = 0;
  const proxy = opened(await startStallingProxy(() => port));
  const upstream = opened(await serve({ ...worker, card: shown }, { protocols, publicUrl: proxy.url }));
  port = upstream.port;
  const more = { pin, discoveryCache: new DiscoveryCache(), bridge: { name: "peer" } };
  const bridged = opened(await bridge(proxy.url, { ...more, ...options }));
  const gateway = opened(await serve(bridged, {}));
  return { url: gateway.url, proxy };
}

describe("the connection to the upstream is cut in the middle of a stream", () => {
  test.each(pins)(
    "%s: a reader gets every piece once",
    async (pin) => {
      let openGate = (): void => undefined;
      const gate = new Promise<void>((resolve) => {
        openGate = resolve;
      });
      const { url, proxy } = await behindGateway(async function* (_message, task) {
        for (const number of [0, 1, 2, 3, 4, 5]) {
          if (number === 3) await gate;
          yield task.artifact(`${number} `, { id: "count", append: number > 0, last: number === 5 });
        }
        return undefined;
      }, pin);
      const reader = new RunReader(url);
      await reader.until("0 1 2 ");
      await proxy.cut();
      openGate();
      await reader.done;
      expect(reader.text).toBe("0 1 2 3 4 5 ");
      expect(reader.events.at(-1)?.type).toBe("run.completed");
    },
    TEST_MS,
  );
});

describe("the timeout of an upstream that does not end its work", () => {
  const TIMEOUT_MS = 3_000;
  const forever: AgentFunction = async function* (_message, task) {
    yield "begun ";
    await new Promise((_, reject) => task.signal.addEventListener("abort", reject));
  };

  async function expectTimeout(reader: RunReader): Promise<void> {
    await reader.done;
    const last = reader.events.at(-1);
    expect(last?.type).toBe("run.failed");
    // The second form, if this machine was too slow to cut the connection before.
    expect(last?.run?.error?.message).toMatch(/did not end its work in time|no complete answer within/);
    expect(reader.text).toMatch(/^begun /);
    // The state of the upstream was read again and again, and is stored once.
    expect(reader.events.filter(({ type }) => type === "run.in-progress")).toHaveLength(1);
    expect(reader.events.filter(({ type }) => type === "generic").length).toBeLessThanOrEqual(1);
  }

  test.each(some)(
    "%s: holds after the connection was cut",
    async (pin) => {
      const { url, proxy } = await behindGateway(forever, pin, { timeoutMs: TIMEOUT_MS });
      const reader = new RunReader(url);
      await reader.until("begun ");
      await Promise.race([proxy.cut(), reader.done]);
      await expectTimeout(reader);
    },
    TEST_MS,
  );

  test.each(some)(
    "%s: holds where the task is polled",
    async (pin) => {
      const { url } = await behindGateway(forever, pin, { timeoutMs: TIMEOUT_MS }, false);
      await expectTimeout(new RunReader(url));
    },
    TEST_MS,
  );
});
