import { basename, resolve } from "node:path";
import { AgentError, type Maybe, type OpenContentSeal } from "../../envelope/index.js";
import { StoreSeal } from "./content-seal.js";
import { createStoreKeys, hasStoreKeys, READ_AGAIN_MS, readStoreKeys } from "./store-keys.js";

/** Options of `openStoreSeal`. */
export interface StoreSealOptions {
  /**
   * Content from before the store was sealed is read, too. Whoever can write the store can then add content that is not sealed. Default:
   * it is refused.
   */
  readonly acceptsClear?: Maybe<boolean>;
  /** Makes the file at first use. Not if the store is sealed already: its content would be lost. Default: false. */
  readonly create?: Maybe<boolean>;
  /** Called for content that is refused because it was changed, moved or not sealed. */
  readonly onRefused?: Maybe<(taskId: string, problem: string) => void>;
  /** Called if the file cannot be read again; the keys read before stay in use. */
  readonly onProblem?: Maybe<(error: AgentError) => void>;
  readonly now?: Maybe<() => number>;
}

/**
 * The `seal` of `openSqliteStore` and `openRedisStore`: content is sealed with the newest key of the file, and read with all of them. The
 * file is read again every 20 seconds, so that a new key needs no restart. Replicas share one file.
 */
export function openStoreSeal(file: string, options: StoreSealOptions = {}): OpenContentSeal {
  const path = resolve(file);
  const { acceptsClear, create = false, onRefused, onProblem, now = Date.now } = options;
  return async (isSealed) => {
    if (create && !isSealed && !(await hasStoreKeys(path))) {
      await createStoreKeys(path, now).catch((thrown: unknown) => {
        // Another process was faster: its file is used.
        if (AgentError.from(thrown).code !== "conflict") throw thrown;
      });
    }
    let keys = await readStoreKeys(path, now);
    const readAgain = async (): Promise<void> => {
      try {
        keys = await readStoreKeys(path, now);
      } catch (thrown) {
        onProblem?.(AgentError.from(thrown));
      }
    };
    const timer = setInterval(() => void readAgain(), READ_AGAIN_MS).unref();
    return new StoreSeal(() => keys, { source: basename(path), acceptsClear, onRefused, onClose: () => clearInterval(timer) });
  };
}
