import type { ConnectOptions } from "../../src/index.js";
import { type Bandit, createBandit } from "../../src/router/index.js";
import { usageError } from "./exit.js";
import { wordsIn } from "./option-values.js";
import { openRecordStore } from "./task-store.js";

/** How a command chooses among the protocols of an agent, by the outcomes of earlier calls. */
export interface LearnOptions {
  /** Where outcomes are kept: a folder, or the address of a Redis. */
  readonly learn?: string;
  readonly feasible?: string;
  readonly context?: string;
}

/** The bandit on a store, until it is closed. */
export interface OpenBandit {
  readonly bandit: Bandit;
  close(): Promise<void>;
}

/** The stores that `koine serve` and `koine gateway` use have the same places. */
export async function openBandit(place: string, onProblem: (problem: string) => void): Promise<OpenBandit> {
  const options = /^rediss?:/.test(place) ? { store: place } : { data: place };
  const store = await openRecordStore(options, "outcomes of calls");
  if (store === undefined) throw usageError("it is not said where outcomes of calls are kept");
  const bandit = createBandit({ records: store.records, seed: 0, onProblem: ({ message }) => onProblem(message) });
  return {
    bandit,
    async close() {
      await bandit.settled();
      await store.close?.();
    },
  };
}

interface OpenChoice {
  readonly options: Pick<ConnectOptions, "feasible" | "chooser">;
  close(): Promise<void>;
}

/** What `connect` needs to choose, and to learn from the call. */
export async function openChoice(
  url: string,
  { learn, feasible, context }: LearnOptions,
  onProblem: (problem: string) => void,
): Promise<OpenChoice> {
  const may = feasible === undefined ? {} : { feasible: wordsIn(feasible, "--feasible") };
  if (learn === undefined) {
    if (context !== undefined) throw usageError("--context is for --learn", "Give --learn with the place of earlier outcomes.");
    return { options: may, close: async () => undefined };
  }
  const { bandit, close } = await openBandit(learn, onProblem);
  return { options: { ...may, chooser: bandit.on(context ?? contextOf(url)) }, close };
}

/** Calls to one host are alike unless it is said otherwise. */
function contextOf(url: string): string {
  return URL.canParse(url) && new URL(url).host !== "" ? new URL(url).host : url;
}
