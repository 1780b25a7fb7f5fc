import { EvmRegistry } from "../../../src/protocols/sage/chain/evm-registry.js";
import { DidNotResolved } from "../../../src/protocols/sage/errors.js";
import { DidCache } from "../../../src/protocols/sage/identity/did-cache.js";
import { answerLines, firstLine } from "../../watermark/processes/lines.js";

/** One replica: a process with its own cache. Its clock stands still until it is moved. */
export interface ResolverFacts {
  readonly rpc: string;
  readonly registry: string;
  readonly ttlMs: number;
  /** How often it asks for changes. Default: never. */
  readonly watchMs?: number;
}

const { rpc, registry: address, ttlMs, watchMs }: ResolverFacts = JSON.parse(await firstLine());
let now = 0;
const counts = { looks: 0, reads: 0 };

/** Counts what is asked. */
class CountedRegistry extends EvmRegistry {
  override read(account: string) {
    counts.reads++;
    return super.read(account);
  }

  override async changes(cursor?: number) {
    const changes = await super.changes(cursor);
    counts.looks++;
    return changes;
  }
}

const registry = new CountedRegistry({ network: "local", rpc, registry: address });
const limits = { ttlMs, failureMs: 0, ...(watchMs === undefined ? {} : { watchMs }) };
const cache = new DidCache({ registries: [registry], limits, now: () => now });
if (watchMs !== undefined) cache.watch();

answerLines({
  /** The key is used: `accepted`, or why it is not. */
  use: async (id) => {
    try {
      const [did = ""] = id.split("#");
      await cache.resolvePublicKey(did, id);
      return "accepted";
    } catch (thrown) {
      if (!(thrown instanceof DidNotResolved)) throw thrown;
      return `${thrown.name} ${thrown.reason}`;
    }
  },
  looks: async () => String(counts.looks),
  reads: async () => String(counts.reads),
  clock: async (time) => {
    now = Number(time);
    return "set";
  },
});
process.stdout.write("ready\n");
