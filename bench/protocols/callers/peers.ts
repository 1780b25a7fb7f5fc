import { setTimeout as pause } from "node:timers/promises";
import type { PeerAnswer, PeerSendOptions, Peers } from "../behaviours/behaviour.js";
import type { RunClock } from "../clock.js";
import { hashOf, peerMessage } from "../payload.js";
import type { AgentEvent } from "../processes/agent-event.js";
import type { NoteSender } from "../processes/notes.js";
import type { ClientTask, PeerTarget, RunTask } from "../processes/tasks.js";
import { type Attempt, BACKOFF_FACTOR, type BenchClient, ERROR_CHARS } from "./client.js";
import { openKoineClient } from "./koine-client.js";

export interface PeerParts {
  readonly name: string;
  readonly restarts: number;
  readonly targets: readonly PeerTarget[];
  readonly identities: ClientTask["identities"];
  readonly task: RunTask;
  readonly now: RunClock;
  readonly notes: NoteSender<AgentEvent>;
}

/** The client side of one agent. It connects to a peer with the first message to it, and owns the retries. */
export class AgentPeers implements Peers {
  readonly names: readonly string[];
  readonly #parts: PeerParts;
  readonly #clients = new Map<string, Promise<BenchClient>>();
  #count = 0;

  constructor(parts: PeerParts) {
    this.#parts = parts;
    this.names = parts.targets.map(({ agent }) => agent);
  }

  async connect(to: string): Promise<void> {
    await this.#client(to);
  }

  async send(to: string, text: string, options: PeerSendOptions = {}): Promise<PeerAnswer> {
    const { settings } = this.#parts.task;
    const { seq, signal, module, retries = settings.retries, timeoutMs = settings.messageTimeoutMs } = options;
    const number = this.#count++;
    const id = `${this.#parts.name}/${this.#parts.restarts}/${number}`;
    const payload = peerMessage(id, text);
    const sent = this.#parts.now();
    const limit = AbortSignal.timeout(timeoutMs);
    const ending = signal === undefined ? limit : AbortSignal.any([limit, signal]);
    let networkErrors = 0;
    for (let attempts = 1; ; attempts++) {
      const last = await this.#attempt(to, { number, payload, module, signal: ending });
      if (last.error?.isNetwork === true) networkErrors++;
      const again = last.error?.kind === "transient" && attempts <= retries && !ending.aborted;
      if (!again) {
        const answer = answerOf(last, { cancelled: signal?.aborted === true, late: limit.aborted });
        this.#record({ id, seq, to, payload, sent, attempts, networkErrors }, answer, last);
        return answer;
      }
      await pause(settings.backoffMs * BACKOFF_FACTOR ** (attempts - 1));
    }
  }

  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.allSettled(clients.map(async (client) => (await client).close()));
  }

  /** Throws only for a name that is none. */
  async #attempt(to: string, { number, payload, module, signal }: Sending): Promise<Attempt> {
    let client: BenchClient;
    try {
      client = await this.#client(to);
    } catch (thrown) {
      const text = thrown instanceof Error ? thrown.message : String(thrown);
      return { error: { text, kind: "transient", isNetwork: true }, stamps: {}, streamEvents: 0 };
    }
    return client.send({ seq: number, agent: to, payload, module, signal });
  }

  #client(to: string): Promise<BenchClient> {
    const { targets, identities, task, now } = this.#parts;
    const target = targets.find(({ agent }) => agent === to);
    if (target === undefined) throw new Error(`${this.#parts.name} has no peer ${to}`);
    const open = this.#clients.get(to) ?? openKoineClient({ ...task, targets: [target], identities }, now);
    this.#clients.set(to, open);
    // The next message tries again.
    open.catch(() => this.#clients.delete(to));
    return open;
  }

  #record({ id, seq, to, payload, sent, attempts, networkErrors }: Sent, answer: PeerAnswer, last: Attempt): void {
    const { task, name, now, notes } = this.#parts;
    const { done = now(), stamps } = last;
    notes.add({
      type: "peer-request",
      run: task.run,
      id,
      ...(seq === undefined ? {} : { seq }),
      from: name,
      to,
      outcome: answer.ok ? "answered" : answer.why === "timeout" || answer.why === "cancelled" ? answer.why : "failed",
      ...(answer.ok ? {} : { error: answer.error }),
      attempts,
      ...(networkErrors === 0 ? {} : { networkErrors }),
      stamps: { send: sent, ...stamps, done },
      payloadBytes: Buffer.byteLength(payload),
      answerBytes: answer.ok ? Buffer.byteLength(answer.text) : 0,
      payloadHash: hashOf(payload),
      ...(answer.ok ? { answerHash: hashOf(answer.text) } : {}),
    });
  }
}

interface Sending {
  readonly number: number;
  readonly payload: string;
  readonly module: string | undefined;
  readonly signal: AbortSignal;
}

interface Sent {
  readonly id: string;
  readonly seq: number | undefined;
  readonly to: string;
  readonly payload: string;
  readonly sent: number;
  readonly attempts: number;
  readonly networkErrors: number;
}

function answerOf(
  { answer, error }: Attempt,
  { cancelled, late }: { readonly cancelled: boolean; readonly late: boolean },
): PeerAnswer {
  if (error === undefined) return { ok: true, text: answer ?? "" };
  const text = error.text.slice(0, ERROR_CHARS);
  if (cancelled) return { ok: false, why: "cancelled", error: text };
  if (late || error.kind === "timeout") return { ok: false, why: "timeout", error: text };
  return { ok: false, why: error.isNetwork ? "unreachable" : "refused", error: text };
}
