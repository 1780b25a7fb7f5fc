import type { Maybe } from "../../src/index.js";
import { contentRefusals, storeKeysFileOf } from "../../src/internal.js";
import type { AuditSink } from "../../src/public/auth.js";
import { type Identity, openStoreSeal } from "../../src/public/identity.js";
import { protocols } from "../../src/public/protocols.js";
import type { OpenContentSeal } from "../../src/public/stores.js";
import type { Metrics } from "../../src/public/telemetry.js";
import { usageError } from "./exit.js";
import type { StoreOptions } from "./task-store.js";

export interface SealStoreOptions extends StoreOptions {
  readonly identity?: string;
  /** `--seal-store [FILE]`; false for `--no-seal-store`. */
  readonly sealStore?: string | boolean;
  readonly acceptUnsealed?: boolean;
}

interface Reporting {
  say(line: string): void;
  readonly audit: Maybe<AuditSink>;
  readonly metrics: Maybe<Metrics>;
}

/** The seal of the tasks in --data or --store: if it is asked for, or a protocol of the identity expects it. */
export function storeSealOf(
  options: SealStoreOptions,
  identity: Maybe<Identity>,
  { say, audit, metrics }: Reporting,
): Maybe<OpenContentSeal> {
  const { sealStore, acceptUnsealed = false, data, store } = options;
  const isAsked = sealStore !== undefined && sealStore !== false;
  const isExpected = sealStore !== false && protocols.some(({ sealsStore }) => sealsStore?.(identity) === true);
  if (data === undefined && store === undefined) {
    if (isAsked || acceptUnsealed)
      throw usageError("tasks in memory are not sealed", "Give --data DIR or --store redis://… too.");
    return undefined;
  }
  if (!isAsked && !isExpected) {
    if (acceptUnsealed) throw usageError("--accept-unsealed is about a sealed store", "Give --seal-store too.");
    return undefined;
  }
  const count = metrics && contentRefusals(metrics);
  return openStoreSeal(typeof sealStore === "string" ? sealStore : keysBeside(options.identity), {
    create: true,
    acceptsClear: acceptUnsealed,
    onProblem: ({ message }) => say(`Store keys cannot be read again; still using the previous ones: ${message}`),
    onRefused(taskId, problem) {
      count?.();
      say(`Task ${taskId} refused: its content in the store ${problem}`);
      audit?.record({
        at: new Date().toISOString(),
        event: "refused",
        who: "unknown",
        what: `stored task ${taskId}`,
        reason: problem,
      });
    },
  });
}

function keysBeside(identityFile: Maybe<string>): string {
  if (identityFile !== undefined) return storeKeysFileOf(identityFile);
  throw usageError(
    "--seal-store needs a file of keys where there is no --identity",
    "Give --seal-store FILE; it is made if missing.",
  );
}
