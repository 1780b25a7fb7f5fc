import { WARM_UP_FROM } from "../callers/load.js";
import { isRight } from "../shards/matcher.js";
import { ANSWER_FOUND, type Ask } from "../shards/messages.js";
import { readShards } from "../shards/read-shards.js";
import type { Questions } from "./behaviour.js";
import { shardData } from "./shard-ring.js";

/** The coordinator of a ring, outside of it: asks each agent its questions in turn, and judges every answer once. */
export function shardQuestions({ data, settings }: Parameters<Questions>[0]): ReturnType<Questions> {
  const { items, holderOf } = readShards(shardData(data).source, settings.agents);
  const indexOf = (seq: number): number => (seq % WARM_UP_FROM) % items.length;
  return {
    heldBy: (agent) => items.flatMap((_, item) => (holderOf(item) === agent ? item : [])),
    textOf(seq) {
      const item = indexOf(seq);
      const group = Math.floor(item / settings.agents);
      return JSON.stringify({ kind: "ask", key: `q-${seq}`, group, question: items[item]?.question ?? "" } satisfies Ask);
    },
    judge(seq, answer) {
      const item = indexOf(seq);
      const found = answer.startsWith(ANSWER_FOUND);
      const right = found && isRight(answer.slice(ANSWER_FOUND.length), items[item]?.answer ?? "");
      // Whether the agent that is asked holds the text itself: what a ring without messages would find.
      return { found, right, local: holderOf(item) === item % settings.agents };
    },
  };
}
