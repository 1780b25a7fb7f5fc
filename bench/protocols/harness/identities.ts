import { rmSync } from "node:fs";
import { join } from "node:path";
import { writeNewIdentity } from "../../../src/internal.js";
import { createIdentity, openIdentity } from "../../../src/public/identity.js";
import { protocols } from "../../../src/public/protocols.js";
import { createMemoryStore } from "../../../src/public/stores.js";
import type { KnownRecord } from "../processes/tasks.js";

/** Records that are read at once. */
const PAGE = 1_000;

/** The identities of one run: files that its processes open, and the records by which they find each other's keys. */
export interface RunIdentities {
  /** By the name of the agent, or `caller`. */
  readonly files: ReadonlyMap<string, string>;
  readonly dids: ReadonlyMap<string, string>;
  readonly records: readonly KnownRecord[];
  /** Deletes the private keys. */
  remove(): void;
}

/** Makes an identity for each name, as the protocol of the arm wants them: registered, or the did:key of a new key. */
export async function createIdentities(
  protocolId: string,
  folder: string,
  owners: readonly { readonly name: string; readonly endpoint: string }[],
): Promise<RunIdentities> {
  const protocol = protocols.find(({ id }) => id === protocolId);
  const { records } = createMemoryStore({ now: Date.now });
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const [files, dids] = [new Map<string, string>(), new Map<string, string>()];
  try {
    for (const { name, endpoint } of owners) {
      const file = join(folder, `${name}.json`);
      if (protocol?.createIdentity === undefined) await writeNewIdentity(file, createIdentity({ name, did: "key" }));
      else await protocol.createIdentity(file, { endpoint, records });
      files.set(name, file);
      const { did } = await openIdentity(file);
      dids.set(name, did);
    }
    const known: KnownRecord[] = [];
    for (let page = await records.list("", PAGE); page.length > 0; page = await records.list("", PAGE, known.at(-1)?.key))
      known.push(...page);
    return { files, dids, records: known, remove };
  } catch (thrown) {
    remove();
    throw thrown;
  }
}
