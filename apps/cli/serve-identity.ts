import { AgentError, type JsonObject } from "../../src/index.js";
import type { AuditSink } from "../../src/public/auth.js";
import { type Identity, openIdentity } from "../../src/public/identity.js";
import { problemOf } from "./problem.js";

/**
 * The identity of a file, which can be read again: `koine identity rotate` and `revoke`, and a DID that was replaced by this one, act
 * without a restart.
 */
export class IdentityFile implements Identity {
  readonly #path: string;
  #current: Identity;

  private constructor(path: string, current: Identity) {
    this.#path = path;
    this.#current = current;
  }

  static async open(path: string): Promise<IdentityFile> {
    return new IdentityFile(path, await openIdentity(path));
  }

  get name(): string {
    return this.#current.name;
  }

  get did(): string {
    return this.#current.did;
  }

  keys: Identity["keys"] = () => this.#current.keys();
  sign: Identity["sign"] = (...args) => this.#current.sign(...args);
  agree: Identity["agree"] = (...args) => this.#current.agree(...args);
  retired = (): readonly JsonObject[] => this.#current.retired?.() ?? [];

  /** Throws, and keeps the keys, if the file is invalid or of another DID: the address is that of the first. */
  async reload(): Promise<void> {
    const read = await openIdentity(this.#path);
    if (read.did !== this.did)
      throw new AgentError("invalid_message", `${this.#path} is now the identity ${read.did}; restart to serve under it`);
    this.#current = read;
  }
}

interface Reporting {
  say(line: string): void;
  readonly audit: AuditSink | undefined;
}

/** Reads the file again on SIGHUP. */
export function watchIdentity(identity: IdentityFile, { say, audit }: Reporting): () => void {
  const reload = async (): Promise<void> => {
    const what = `the identity ${identity.did}`;
    const at = new Date().toISOString();
    try {
      await identity.reload();
      say("Identity reloaded.");
      audit?.record({ at, event: "key.reloaded", who: "operator", what });
    } catch (thrown) {
      const { message } = problemOf(thrown);
      say(`Identity reload rejected; still using the previous keys: ${message}`);
      audit?.record({ at, event: "refused", who: "operator", what, reason: message });
    }
  };
  const onHangUp = (): void => void reload();
  process.on("SIGHUP", onHangUp);
  return () => void process.off("SIGHUP", onHangUp);
}
