import type { Maybe, PushConfig, Task, TaskEvent } from "../envelope/index.js";

/** One journal entry to send to one webhook. */
export interface PushNotification {
  readonly config: PushConfig;
  /** Whose task it is: the caller that set the webhook. */
  readonly owner: string;
  readonly seq: number;
  readonly event: TaskEvent;
  /** The task at this entry, for protocols that send the whole task. Undefined if it is no longer stored. */
  task(): Promise<Maybe<Task>>;
}

/** `problem` is shown to the caller, so it must not contain a secret. `final`: do not retry. */
export type PushOutcome =
  | { readonly accepted: true }
  | {
      readonly accepted: false;
      readonly problem: string;
      readonly retryAfterMs?: Maybe<number>;
      readonly final?: Maybe<boolean>;
    };

/** Sends push notifications. The runtime handles order, retries and progress; the port handles the protocol. */
export interface PushPort {
  /** One attempt. The same entry may be sent again; entries of one webhook are never sent concurrently. */
  send(notification: PushNotification, signal: AbortSignal): Promise<PushOutcome>;
  /** Throws AgentError if notifications to this webhook would never be allowed. */
  allows?(config: PushConfig, owner: string): Promise<void>;
}
