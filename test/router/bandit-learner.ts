import { once } from "node:events";
import { openRedisStore, openSqliteStore } from "../../src/index.js";
import { createBandit } from "../../src/router/index.js";

/** A process that prints `ready`, waits for its input, and then learns outcomes of one protocol in a context, one by one. */
export interface LearnerFacts {
  readonly store: { readonly file: string } | { readonly redis: string };
  readonly context: string;
  readonly protocol: string;
  readonly outcomes: number;
}

const facts = JSON.parse(process.argv[2] ?? "") as LearnerFacts;
const { store: place, context, protocol } = facts;
const store =
  "file" in place ? await openSqliteStore({ file: place.file, now: Date.now }) : await openRedisStore({ url: place.redis });
const bandit = createBandit({
  records: store.records,
  seed: 1,
  // What another process learns does not fade this one's.
  fading: { tried: 0.9999, others: 1 },
  onProblem: (problem) => {
    throw problem;
  },
});
process.stdout.write("ready\n");
await once(process.stdin, "data");
for (let each = 0; each < facts.outcomes; each++) await bandit.learn(context, protocol, { ok: true, latencyMs: 0 });
await bandit.settled();
await store.close?.();
process.stdin.destroy();
