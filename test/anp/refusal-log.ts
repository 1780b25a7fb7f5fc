import type { AuditEntry, AuditSink } from "../../src/public/auth.js";

/** The refusals that a server counts, as its audit log has them: each with the error code and the reason of ANP. */
export class RefusalLog {
  readonly #entries: AuditEntry[] = [];
  readonly audit: AuditSink = { record: (entry) => void this.#entries.push(entry), close: async () => undefined };

  /** `unauthenticated invalid_nonce`, in order. */
  all(): readonly string[] {
    return this.#entries.flatMap(({ event, code, reason = "" }) => {
      const [, named = "", last = ""] = /\((\w+)\)|: (\w+)$/.exec(reason) ?? [];
      return event === "refused" ? [`${code} ${named}${last}`] : [];
    });
  }

  /** The whole sentences. */
  reasons(): readonly string[] {
    return this.#entries.flatMap(({ event, reason }) => (event === "refused" ? [reason ?? ""] : []));
  }
}
