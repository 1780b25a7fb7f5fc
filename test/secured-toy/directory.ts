import type { Maybe } from "../../src/envelope/index.js";
import { AgentError } from "../../src/envelope/index.js";
import {
  createIdentity,
  createResolver,
  type DidMethod,
  type LocalIdentity,
  publishedKeysOf,
  type Resolver,
  readDidDocument,
  writeDidDocument,
} from "../../src/security/identity/index.js";

/** Identities with documents that can change, and a resolver that finds them: `did:memo:ann`. */
export class Directory {
  readonly #documents = new Map<string, Uint8Array>();

  create(name: string): LocalIdentity {
    const identity = createIdentity({ name, did: `did:memo:${name}` });
    this.publish(identity);
    return identity;
  }

  /** One whose document nobody finds. */
  createUnpublished(name: string): LocalIdentity {
    return createIdentity({ name, did: `did:memo:${name}` });
  }

  publish(identity: LocalIdentity, deactivated = false): void {
    const { did } = identity;
    const document = writeDidDocument({ did, keys: publishedKeysOf(identity), deactivated });
    this.#documents.set(did, new TextEncoder().encode(JSON.stringify(document)));
  }

  /** Never cached, so that changes take effect at once. */
  resolver(): Resolver {
    const documents = this.#documents;
    const memo: DidMethod = {
      method: "memo",
      cacheMs: 0,
      async resolve(did, _fetch, now) {
        const bytes: Maybe<Uint8Array> = documents.get(did);
        if (bytes === undefined) throw new AgentError("not_found", `${did} has no document`);
        return readDidDocument(bytes, did, now);
      },
    };
    return createResolver({ methods: [memo] });
  }
}
