import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AgentError,
  agent,
  type Bridge,
  bridge,
  connect,
  createMemoryArtifacts,
  DiscoveryCache,
  type Part,
  type RemoteAgent,
  type Server,
  serve,
} from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { interfacesOf, type PinnedInterface } from "../gateway/pairs/interfaces.js";

/** Ten megabytes to an agent through a gateway, and ten megabytes back. */

const BYTES = 10 * 1024 * 1024;
const TEST_MS = 60_000;
/** As base64; the default is for messages, not for files. */
const LIMITS = { ...DEFAULT_LIMITS, jsonBytes: DEFAULT_LIMITS.bodyBytes };
const interfaces = await interfacesOf(protocols);
/** The first interface of each protocol, and the one that is not JSON. */
const some = interfaces.filter(
  ({ protocol, pin }, index) =>
    interfaces.findIndex((other) => other.protocol === protocol) === index || pin.endsWith("1.0/GRPC"),
);
const large = new Uint8Array(randomBytes(BYTES));

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

let upstream: Server;
const opened: { close(): unknown }[] = [];
beforeAll(async () => {
  const depot = agent({
    name: "depot",
    description: "says what it was given, and gives what it is asked for",
    async handle({ text, content }, task): Promise<string | readonly Part[]> {
      if (text === "give") return [{ kind: "raw", bytes: large, mediaType: "application/octet-stream" }];
      const given = content.find(({ kind }) => kind === "raw" || kind === "url");
      const part = given === undefined ? undefined : await task.fetch(given);
      return part?.kind === "raw" ? digestOf(part.bytes) : "nothing was given";
    },
  });
  upstream = await serve(depot, { limits: LIMITS });
});
afterAll(async () => {
  for (const each of opened.reverse()) await each.close();
  await upstream.close();
});

async function callerThrough(listener: PinnedInterface, target: PinnedInterface, artifacts: boolean): Promise<RemoteAgent> {
  const bridged: Bridge = await bridge(upstream.url, {
    pin: target.pin,
    discoveryCache: new DiscoveryCache(),
    limits: LIMITS,
    bridge: { name: "depot" },
  });
  const options = artifacts ? { artifacts: { store: createMemoryArtifacts({ now: Date.now, newId: () => randomUUID() }) } } : {};
  const gateway = await serve(bridged, { ...options, limits: { ...LIMITS, drainMs: 0 } });
  const caller = await connect(gateway.url, { pin: listener.pin, discoveryCache: new DiscoveryCache(), limits: LIMITS });
  opened.push(bridged, gateway, caller);
  return caller;
}

async function given(caller: RemoteAgent): Promise<string> {
  try {
    return await caller.ask([{ kind: "raw", bytes: large, mediaType: "application/octet-stream" }]);
  } catch (thrown) {
    return AgentError.from(thrown).code;
  }
}

async function got(caller: RemoteAgent): Promise<string> {
  try {
    const event = await caller.send("give");
    const parts = event.kind === "task" ? event.task.artifacts.flatMap((made) => made.parts) : contentOf(event);
    const [part] = await Promise.all(parts.map((each) => caller.fetch(each)));
    return part?.kind === "raw" ? `${parts[0]?.kind} ${digestOf(part.bytes)}` : `${part?.kind}`;
  } catch (thrown) {
    return AgentError.from(thrown).code;
  }
}

function contentOf(event: { readonly kind: string; readonly message?: { readonly content: readonly Part[] } }): readonly Part[] {
  return event.message?.content ?? [];
}

describe.each(some.map((target) => [target.pin, target] as const))("upstream %s", (_pin, target) => {
  test.each(some.map((listener) => [listener.pin, listener] as const))(
    "listener %s: the same bytes, inline or by reference",
    async (_listener, listener) => {
      const plain = await callerThrough(listener, target, false);
      expect(await given(plain)).toBe(digestOf(large));
      expect(await got(plain)).toBe(`raw ${digestOf(large)}`);
      const referring = await callerThrough(listener, target, true);
      expect(await got(referring)).toBe(`url ${digestOf(large)}`);
    },
    TEST_MS,
  );
});
