import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chance, oneOf } from "../../bench/harness/chance.js";
import { recordsBelow } from "../../src/envelope/index.js";
import { AgentCardRegistry } from "../../src/protocols/sage/chain/agent-card-registry.js";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { DidNotResolved } from "../../src/protocols/sage/errors.js";
import { verifiedInfo } from "../../src/protocols/sage/identity/agent-record.js";
import { checkedSageDid, NETWORKS, parseSageDid, sageDidOf } from "../../src/protocols/sage/identity/did-sage.js";
import { readHttpRequest } from "../../src/protocols/sage/legacy/http-message.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import { readOperation, writeOperation } from "../../src/protocols/sage/registry/operations.js";
import type { Operation, RegistryReader } from "../../src/protocols/sage/registry/registry.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { taskLimits } from "../../src/tasks/limits.js";
import { MemoryRecords } from "../../src/tasks/stores/memory-records.js";
import { DecodeProblem } from "../../src/transport/fields.js";
import { AgentCardChain } from "./agent-card.js";
import { AlteredNode, type Exchange, passed } from "./altered-node.js";
import { standIn } from "./compile.js";
import { chainRegistry, newAgent, register, registrationOf, startDevChain, type TestRegistry } from "./registries.js";

/** Parsers get damaged input, the same in every run: they refuse it with their own errors, and accept nothing that was not there. */

type Random = () => number;
const JUNK = ["", "0", "x", "#", ":", "%", "\u0000", "\n", "é", "\ud800", "0x", "did:", "__proto__", "9".repeat(40)];

/** A text with one to three characters removed, repeated, replaced or inserted. */
function damagedText(text: string, random: Random): string {
  let damaged = text;
  for (let i = Math.floor(random() * 3); i >= 0; i--) {
    const at = Math.floor(random() * (damaged.length + 1));
    const [before, after] = [damaged.slice(0, at), damaged.slice(at)];
    const change = Math.floor(random() * 5);
    if (change === 0) damaged = before + after.slice(1);
    else if (change === 1) damaged = before + after.slice(0, 1) + after;
    else if (change === 2) damaged = before + after.slice(0, 1).toUpperCase() + after.slice(1);
    else if (change === 3) damaged = before + (oneOf(JUNK, random) ?? "") + after.slice(1);
    else damaged = before + (oneOf(JUNK, random) ?? "") + after;
  }
  return damaged;
}

const VALUES: readonly unknown[] = [
  null,
  true,
  -1,
  1.5,
  2 ** 53,
  1e300,
  "",
  "0x",
  "0xzz",
  [],
  {},
  ["0x00"],
  { kind: "register" },
];

/** A JSON value with one member somewhere removed or replaced. */
function damagedJson(value: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random() < 0.2)
    return typeof value === "string" && random() < 0.6 ? damagedText(value, random) : oneOf(VALUES, random);
  const entries: [string, unknown][] = Object.entries(value);
  const at = Math.floor(random() * entries.length);
  const kept = entries.flatMap(([name, member], index): [string, unknown][] => {
    if (index !== at) return [[name, member]];
    return random() < 0.15 ? [] : [[name, damagedJson(member, random)]];
  });
  return Array.isArray(value) ? kept.map(([, member]) => member) : Object.fromEntries(kept);
}

test("DIDs: what is accepted has the one spelling, all else is refused by name", () => {
  const random = chance(20);
  const valid = Object.keys(NETWORKS).map((network) => `did:sage:${network}:0x${"0123456789abcdef".repeat(3).slice(0, 40)}`);
  let refused = 0;
  for (let i = 0; i < 5_000; i++) {
    const text = damagedText(oneOf(valid, random) ?? "", random);
    const parsed = parseSageDid(text);
    if (parsed !== undefined) {
      expect(text).toBe(sageDidOf(parsed.network, parsed.account));
      expect(text).toMatch(/^did:sage:(ethereum|kaia|sepolia|kairos|local):0x[0-9a-f]{40}$/);
      continue;
    }
    refused++;
    expect(() => checkedSageDid(text)).toThrow(DidNotResolved);
  }
  expect(refused).toBeGreaterThan(3_000);
});

test("operations: what is read is written the same, all else is a decoding problem", async () => {
  const random = chance(21);
  const agent = await newAgent();
  const registration = await registrationOf(agent, new EmbeddedRegistry(records(), { network: "local", now: Date.now }));
  const [key] = registration.keys;
  if (key === undefined) throw new Error("no keys");
  const operations: readonly Operation[] = [
    registration,
    { kind: "commit", commitment: "0x01" },
    { kind: "addKey", key },
    { kind: "rotate", old: "key-1", key, overlapSeconds: 5 },
    { kind: "revoke", name: "key-1" },
    { kind: "setEndpoint", endpoint: "https://a.example" },
    { kind: "deactivate" },
  ];
  let refused = 0;
  for (let i = 0; i < 3_000; i++) {
    const damaged = damagedJson(writeOperation(oneOf(operations, random) ?? registration), random);
    try {
      const read = readOperation(damaged, "operation");
      expect(readOperation(writeOperation(read), "operation")).toEqual(read);
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(DecodeProblem);
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(1_000);
});

function records(): MemoryRecords {
  return new MemoryRecords(taskLimits(), Date.now);
}

test("records of the embedded registry: a damaged one is invalid, and none is changed unseen", async () => {
  const random = chance(22);
  const store = records();
  const agent = await newAgent();
  const embedded = new EmbeddedRegistry(recordsBelow(store, "sage"), { network: "local", now: () => 1_000 });
  await register({ registry: embedded, fund: async () => undefined }, agent);
  const { account } = checkedSageDid(agent.did);
  const right = await new EmbeddedRegistry(recordsBelow(store, "sage"), { network: "local", now: () => 1_000 }).read(account);
  const log = await store.list("sage/", 10);
  for (let i = 0; i < 300; i++) {
    const copy = records();
    const at = Math.floor(random() * log.length);
    for (const [index, { key, value }] of log.entries())
      await copy.add(key, (index === at ? damagedJson(value, random) : value) as typeof value); // what a damaged store has
    const reader = new EmbeddedRegistry(recordsBelow(copy, "sage"), { network: "local", now: () => 1_000 });
    const read = await reader.read(account).catch((thrown: unknown) => thrown);
    // Members that mean nothing may be damaged.
    if (read instanceof Error) expect(read).toMatchObject({ name: "ErrDIDNotResolved" });
    else expect(read).toEqual(right);
  }
});

test("requests in files: read, or refused by name", () => {
  const random = chance(23);
  const text = 'POST /rpc?a=1 HTTP/1.1\r\nhost: a.example\r\nsignature-input: sig1=("@method");keyid="x"\r\n\r\n{}';
  for (let i = 0; i < 2_000; i++)
    try {
      const { request } = readHttpRequest(Buffer.from(damagedText(text, random)));
      expect(URL.canParse(request.target)).toBe(true);
      expect(Object.keys(request.headers).every((name) => name === name.toLowerCase())).toBe(true);
    } catch (thrown) {
      expect(thrown).toMatchObject({ code: "invalid_message" });
    }
});

describe("answers of a chain node", () => {
  const ROUNDS = 150;
  /** The compiler is slow. */
  const START_MS = 120_000;
  let chain: DevChain;
  let node: AlteredNode;
  let ours: TestRegistry;
  let cards: AgentCardChain;
  let agent: LocalIdentity;
  beforeAll(async () => {
    chain = await startDevChain(0);
    ours = await chainRegistry(chain);
    cards = await AgentCardChain.deploy(chain, standIn());
    agent = await newAgent();
    await register(ours, agent);
    await cards.active(agent);
    node = await AlteredNode.start(chain.rpc);
  }, START_MS);
  afterAll(async () => {
    await node?.close();
    await Promise.all([ours?.close(), cards?.close()]);
    await chain?.stop();
  });

  /** Digits are most of an answer: a change of one is what decoders see. */
  const damagedAnswer = ({ answer }: Exchange, random: Random): unknown => {
    const { result } = answer;
    if (typeof result === "string" && random() < 0.8) {
      const at = 2 + Math.floor(random() * (result.length - 2));
      const cut = random() < 0.1 ? result.slice(0, at) : result;
      const digit = Math.floor(random() * 16).toString(16);
      return { ...answer, result: cut.slice(0, at) + digit + cut.slice(at + 1) };
    }
    return damagedJson(answer, random);
  };

  /** The keys that are accepted, as texts. */
  const acceptedBy = async (registry: RegistryReader): Promise<readonly string[]> => {
    const did = checkedSageDid(agent.did);
    const record = await registry.read(did.account);
    if (record === undefined) return [];
    const { keys } = await verifiedInfo(did, record, registry, 2_000_000_000_000);
    return keys.flatMap(({ id, kind, bytes, state }) =>
      state === "accepted" ? [`${id} ${kind} ${Buffer.from(bytes).toString("hex")}`] : [],
    );
  };

  const readers = {
    "the registry": () => new EvmRegistry({ network: "local", rpc: node.rpc, registry: ours.registry.id.split(":")[2] ?? "" }),
    AgentCardRegistry: () => new AgentCardRegistry({ network: "local", rpc: node.rpc, registry: cards.address }),
  } as const;

  test.each(Object.keys(readers) as (keyof typeof readers)[])(
    "%s: no damaged answer makes another key accepted",
    { timeout: 60_000 },
    async (name) => {
      const random = chance(24);
      node.alter = passed;
      const right = new Set(await withReader(name, acceptedBy));
      expect(right.size).toBe(3);
      let refused = 0;
      for (let i = 0; i < ROUNDS; i++) {
        // One of the answers of a read is damaged.
        let left = Math.floor(random() * 8);
        node.alter = (exchange, response) => {
          if (left-- !== 0) return passed(exchange, response);
          response.end(JSON.stringify(damagedAnswer(exchange, random)));
        };
        const found = await withReader(name, acceptedBy).catch((thrown: unknown) => thrown);
        if (Array.isArray(found)) for (const key of found) expect(right).toContain(key);
        else {
          expect(found).toMatchObject({ name: "ErrDIDNotResolved" });
          refused++;
        }
      }
      expect(refused).toBeGreaterThan(ROUNDS / 10);
    },
  );

  async function withReader<T>(name: keyof typeof readers, use: (registry: RegistryReader) => Promise<T>): Promise<T> {
    const registry = readers[name]();
    try {
      return await use(registry);
    } finally {
      await registry.close();
    }
  }
});
