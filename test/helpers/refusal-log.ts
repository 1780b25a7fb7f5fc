import { expect } from "vitest";
import type { AuditEntry, AuditSink } from "../../src/public/auth.js";
import { createMetrics, createTelemetry } from "../../src/telemetry/index.js";

/** The refusals that a server counts, as its audit log and its metrics have them: each with the error code and the reason of the protocol. */
export class RefusalLog {
  readonly #entries: AuditEntry[] = [];
  readonly #metrics = createMetrics();
  readonly #protocol: string;
  readonly audit: AuditSink = { record: (entry) => void this.#entries.push(entry), close: async () => undefined };
  readonly telemetry = createTelemetry({ metrics: this.#metrics });

  constructor(protocol: string) {
    this.#protocol = protocol;
  }

  /** `unauthenticated invalid_nonce`, in order. */
  all(): readonly string[] {
    return this.#refusals().map(({ code, name }) => `${code} ${name}`);
  }

  #refusals() {
    return this.#entries
      .filter(({ event }) => event === "refused")
      .map(({ code = "", reason = "" }) => {
        const [, named = "", last = ""] = /\(([\w.-]+)\)|: (\w+)$/.exec(reason) ?? [];
        const name = named + last;
        return { code, name, label: /^(record|message) refused/.test(reason) ? `record_${name}` : name || code };
      });
  }

  /** The whole sentences. */
  reasons(): readonly string[] {
    return this.#entries.flatMap(({ event, reason }) => (event === "refused" ? [reason ?? ""] : []));
  }

  /** How often each reason was counted by the metric. */
  metered(): ReadonlyMap<string, number> {
    const samples = this.#metrics.families().find(({ name }) => name === "CALLERS_REFUSED")?.samples ?? [];
    return new Map(
      samples.map((sample) => {
        expect(sample.edge).toMatchObject({ srcAgent: "other", dstId: "other", protocol: this.#protocol });
        return [sample.edge.reason ?? "", "value" in sample ? sample.value : 0];
      }),
    );
  }

  /** What is in the audit log is in the metric, with the same reasons. Of a flood the log has fewer lines than there were refusals. */
  expectMetered(): void {
    const logged = new Map<string, number>();
    for (const { label } of this.#refusals()) logged.set(label, (logged.get(label) ?? 0) + 1);
    const metered = this.metered();
    expect([...metered.keys()].toSorted()).toEqual([...logged.keys()].toSorted());
    for (const [reason, count] of logged) expect(metered.get(reason)).toBeGreaterThanOrEqual(count);
  }
}
