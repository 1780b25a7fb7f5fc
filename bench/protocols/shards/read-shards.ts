import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { chance, shuffled } from "../../harness/chance.js";
import { hashOf } from "../payload.js";
import type { ManifestInput } from "../result/index.js";
import { generateItems } from "./generate.js";
import type { Fragment, ShardItem, ShardSource } from "./item.js";
import { parseItems, type ReadItems, SHARD_LIMITS } from "./jsonl.js";

/** Groups of as many questions as there are agents. Each agent is asked one of them, and holds the text of one of them. */
export interface Shards {
  readonly items: readonly ShardItem[];
  /** The texts that the agent at this position holds. */
  fragmentsOf(agent: number): readonly Fragment[];
  /** The agent that holds the text of a question. */
  holderOf(item: number): number;
}

/** Throws Error that names the file, and the line where one is wrong. */
export function readItems(source: ShardSource): ReadItems {
  if (source.kind === "generated") return { items: generateItems(source.groups, source.seed), skipped: 0 };
  return parseItems(contentOf(source.path), source.path);
}

/** Deals the texts of every group to the agents, in an order drawn from the seed. */
export function readShards(source: ShardSource, agents: number): Shards {
  const { items: all } = readItems(source);
  const groups = Math.floor(all.length / agents);
  if (groups === 0) throw new Error(`${all.length} questions are too few for ${agents} agents`);
  const items = all.slice(0, groups * agents);
  const random = chance(source.seed);
  const positions = Array.from({ length: agents }, (_, index) => index);
  const holders = Array.from({ length: groups }, () => shuffled(positions, random)).flat();
  return {
    items,
    holderOf: (item) => holders[item] ?? 0,
    fragmentsOf: (agent) =>
      items.flatMap(({ content }, item) =>
        holders[item] === agent ? [{ group: Math.floor(item / agents), text: content }] : [],
      ),
  };
}

/** For the manifest. Generated questions are hashed as the lines that a file of them would have. */
export function shardsInput(source: ShardSource): ManifestInput {
  const content =
    source.kind === "file"
      ? contentOf(source.path)
      : readItems(source)
          .items.map((item) => `${JSON.stringify(item)}\n`)
          .join("");
  const name = source.kind === "file" ? basename(source.path) : `generated, seed ${source.seed}`;
  return { role: "data", name, bytes: Buffer.byteLength(content), sha256: hashOf(content) };
}

function contentOf(path: string): string {
  try {
    if (statSync(path).size <= SHARD_LIMITS.bytes) return readFileSync(path, "utf8");
  } catch (thrown) {
    throw new Error(`cannot read ${path}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  throw new Error(`${path} has more than ${SHARD_LIMITS.bytes} bytes`);
}
