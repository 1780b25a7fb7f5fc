import type { Maybe, PushConfig, Task, TaskEvent } from "../envelope/index.js";

/** One journal entry on its way to one webhook. */
export interface PushNotification {
  readonly config: PushConfig;
  readonly seq: number;
  readonly event: TaskEvent;
  /** The task as it was with this entry, for wires that send it whole. Undefined when it is no longer kept. */
  task(): Promise<Maybe<Task>>;
}

/** `problem` is shown to whoever asked to be told, so it never has a secret in it. `final`: another try is no use. */
export type PushOutcome =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly problem: string;
      readonly retryAfterMs?: Maybe<number>;
      readonly final?: Maybe<boolean>;
    };

/** The way out to webhooks. Order, retry and the record of both are the runtime's affair, the wire is this one's. */
export interface PushPort {
  /** One try. The same entry may come again; two entries of one webhook never come at the same time. */
  send(telling: PushNotification, signal: AbortSignal): Promise<PushOutcome>;
  /** Throws AgentError for a webhook that would never be told. */
  allows?(config: PushConfig): Promise<void>;
}
