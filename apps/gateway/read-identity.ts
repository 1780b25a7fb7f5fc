import { AgentError, type Maybe } from "../../src/index.js";
import { checkIdentityUse, identitySigner } from "../../src/internal.js";
import { type Identity, openIdentity } from "../../src/public/identity.js";
import { listenerInterfaces, type MemberPath } from "../config/index.js";
import type { UpstreamConfig } from "./config.js";
import type { ConfigDocument } from "./config-schema.js";
import type { SecretReader } from "./secrets.js";

type Check = (identity: Identity) => unknown;

/** Reads the identity files of a configuration: each reference once, so that a problem in `defaults` is reported once. */
export class IdentityReader {
  readonly #secrets: SecretReader;
  readonly #now: () => number;
  readonly #read = new Map<string, Promise<Maybe<Identity>>>();

  constructor(secrets: SecretReader, now: () => number) {
    this.#secrets = secrets;
    this.#now = now;
  }

  /** The identity that the gateway is served under. */
  served({ identity, listen, as, grpc }: ConfigDocument): Promise<Maybe<Identity>> {
    const check: Check = (read) => checkIdentityUse(read, listen?.publicUrl, listenerInterfaces(as, grpc));
    return this.#identity(identity, ["identity"], check);
  }

  /** The identity that signs requests to an upstream. */
  upstream({ identity, identityPath }: UpstreamConfig): Promise<Maybe<Identity>> {
    return this.#identity(identity, identityPath, (read) => identitySigner(read, this.#now));
  }

  #identity(file: Maybe<string>, path: MemberPath, check: Check): Promise<Maybe<Identity>> {
    if (file === undefined) return Promise.resolve(undefined);
    const key = JSON.stringify(path);
    const reading = this.#read.get(key) ?? this.#open(file, path, check);
    this.#read.set(key, reading);
    return reading;
  }

  async #open(file: string, path: MemberPath, check: Check): Promise<Maybe<Identity>> {
    try {
      const identity = await openIdentity(this.#secrets.path(file), this.#now);
      check(identity);
      return identity;
    } catch (thrown) {
      this.#secrets.problems.add(path, `cannot be used: ${AgentError.from(thrown).message}`);
      return undefined;
    }
  }
}
