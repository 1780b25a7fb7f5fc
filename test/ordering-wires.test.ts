import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  agent,
  connect,
  DiscoveryCache,
  type Interface,
  type Layer,
  type RemoteAgent,
  type Server,
  serve,
} from "../src/index.js";
import { systemClock } from "../src/policies/clock.js";
import { deadlinePropagation } from "../src/policies/deadline-propagation.js";
import { numbering } from "../src/policies/ordering/numbering.js";
import { reorder } from "../src/policies/ordering/reorder.js";
import { SEQUENCE_KEY } from "../src/policies/ordering/sequence-number.js";
import { startCall } from "../src/public/protocols.js";

/** Ordering and limits apply over every interface of an agent, and over all of them at once. */

const handled: string[] = [];
const worker = agent({
  name: "worker",
  description: "writes down what it handles",
  handle({ text }) {
    handled.push(text);
    return `did ${text}`;
  },
});

/** Requests in order of arrival, before they are reordered. */
const arrived: { readonly text: string; readonly number: unknown; readonly ttlMs: number | undefined }[] = [];
let onArrival = (): void => undefined;
const arrivals: Layer = (next) => (operation, call) => {
  if (operation.kind === "send") {
    const { content, metadata, context } = operation.envelope;
    const [part] = content;
    const sequence = metadata?.[SEQUENCE_KEY] as { readonly number?: unknown } | undefined; // compared with a literal below
    arrived.push({ text: part?.kind === "text" ? part.text : "", number: sequence?.number, ttlMs: context.ttlMs });
    onArrival();
  }
  return next(operation, call);
};

let server: Server;
let interfaces: readonly Interface[] = [];
const open: RemoteAgent[] = [];
const reached = async (pin: string | undefined, layers: readonly Layer[]): Promise<RemoteAgent> => {
  const remote = await connect(server.url, {
    discoveryCache: new DiscoveryCache(),
    layers,
    ...(pin === undefined ? {} : { pin }),
  });
  open.push(remote);
  return remote;
};

beforeAll(async () => {
  server = await serve(worker, { layers: [arrivals, reorder({ clock: systemClock, destination: "worker", waitMs: 15_000 })] });
  interfaces = (await reached(undefined, [])).interfaces;
});
afterEach(() => {
  arrived.length = 0;
  handled.length = 0;
});
afterAll(async () => {
  await Promise.all(open.map((remote) => remote.close()));
  await server?.close();
});

const pinOf = ({ protocol, version, binding }: Interface): string => `${protocol}@${version}/${binding}`;

/** Holds messages back until there are `count`, then sends the last one first, each when the one before has arrived. */
function backwards(count: number): Layer {
  const held: (() => void)[] = [];
  return (next) => (operation, call) =>
    operation.kind !== "send"
      ? next(operation, call)
      : new Promise((resolve) => {
          held.push(() => resolve(next(operation, call) as ReturnType<typeof next> & Promise<never>)); // whole answers are requested
          if (held.length < count) return;
          onArrival = () => held.pop()?.();
          onArrival();
        });
}

test("messages of one session that arrive in reverse order, over every interface at once, are handled in order", async () => {
  expect(new Set(interfaces.map(({ protocol }) => protocol)).size).toBeGreaterThanOrEqual(3);
  // One connection each: some protocols take turns, and would not send a second message before the first is answered.
  const each = [...interfaces, ...interfaces];
  const texts = each.map((iface, index) => `${index} ${pinOf(iface)}`);
  const layers = [numbering({ by: "session", newId: () => crypto.randomUUID() }), backwards(texts.length)];
  const remotes = await Promise.all(each.map((iface) => reached(pinOf(iface), layers)));
  const answers = remotes.map((remote, index) => remote.ask(texts[index] ?? "", { session: "one" }));
  expect(await Promise.all(answers)).toEqual(texts.map((text) => `did ${text}`));
  expect(arrived.map(({ number }) => number)).toEqual(texts.map((_, index) => texts.length - index));
  expect(handled).toEqual(texts);
});

test("the remaining time of a call is propagated over every interface", async () => {
  for (const iface of interfaces) {
    const remote = await reached(pinOf(iface), [deadlinePropagation({ clock: systemClock })]);
    const envelope = {
      id: crypto.randomUUID(),
      ts: 1,
      src: "a",
      dst: "worker",
      intent: "",
      role: "user",
      context: {},
      meta: {},
    } as const;
    const send = {
      kind: "send",
      envelope: { ...envelope, content: [{ kind: "text", text: pinOf(iface) }] },
      delivery: "answer",
      task: "auto",
    } as const;
    await remote.handler(send, startCall({ deadline: Date.now() + 20_000 }));
  }
  expect(arrived.map(({ text }) => text)).toEqual(interfaces.map(pinOf));
  for (const { ttlMs } of arrived) {
    expect(ttlMs).toBeGreaterThan(0);
    expect(ttlMs).toBeLessThanOrEqual(20_000);
  }
});
