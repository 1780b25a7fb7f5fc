import type { RunClock } from "../clock.js";
import type { BenchModel } from "../models/settings.js";
import type { Condition, NoteEvent, Settings } from "../result/index.js";

/** What an agent of a scenario does with messages. It knows its peers by name, and nothing of the protocol between them. */
export interface Behaviour {
  /** Returns the answer. Throwing fails the message. */
  handle(message: ReceivedMessage, signal: AbortSignal): Promise<string>;
  /** The same answer in pieces, as they come. Absent: it is there as a whole. */
  stream?(message: ReceivedMessage, signal: AbortSignal): AsyncIterable<string>;
  /** The listener is open: messages may arrive. */
  started?(): void;
  /** The listener is closing; `started` is called again if it opens again. */
  stopped?(): void;
}

export interface ReceivedMessage {
  /** As it arrived. */
  readonly payload: string;
  /** Without the number of the request or the id of the message. */
  readonly text: string;
  /** The number of the caller's request. Undefined for a message of another agent. */
  readonly seq: number | undefined;
  /** The agent that sent it. Undefined for the caller. */
  readonly from: string | undefined;
}

/** What a behaviour is made from. */
export interface BehaviourContext {
  readonly name: string;
  /** All agents of the run in their order, this one included. */
  readonly agents: readonly string[];
  readonly peers: Peers;
  readonly model: BenchModel;
  /** What the harness was given for this scenario, unchanged. The behaviour checks it. */
  readonly data: unknown;
  readonly seed: number;
  readonly settings: Settings;
  readonly condition: Condition;
  readonly now: RunClock;
  /** A folder of this agent that survives its process, not the run. */
  readonly stateFolder: string;
  /** How often its process was started before. */
  readonly restarts: number;
  /** Records something as an event of the run. */
  note(kind: string, more?: Partial<Pick<NoteEvent, "seq" | "about" | "values">>): void;
}

/** The other agents, called over the protocol of the arm, through the proxy of the edge. Every message is recorded on both sides. */
export interface Peers {
  readonly names: readonly string[];
  /** Never throws for what happens on the way. */
  send(to: string, text: string, options?: PeerSendOptions): Promise<PeerAnswer>;
  /** Connects without sending. Throws if the peer cannot be reached; a later `send` connects by itself. */
  connect(to: string): Promise<void>;
}

export interface PeerSendOptions {
  /** The request that the message belongs to. */
  readonly seq?: number | undefined;
  /** What the addressee is in this work, for an arm that calls modules in protocols of their own. */
  readonly module?: string | undefined;
  /** Default: the message timeout of the settings, which is the longest. */
  readonly timeoutMs?: number | undefined;
  /** After errors that may pass. Default: those of the settings. The sender of a message is the only owner of its retries. */
  readonly retries?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type PeerAnswer =
  | { readonly ok: true; readonly text: string }
  /** `unreachable`: no connection, or it broke. */
  | { readonly ok: false; readonly why: "unreachable" | "timeout" | "cancelled" | "refused"; readonly error: string };

/** Makes the behaviour of one agent. Throws Error for data that it cannot use. */
export type BehaviourFactory = (context: BehaviourContext) => Behaviour | Promise<Behaviour>;

/** What a caller asks in a scenario, and how it judges an answer. */
export type Questions = (parts: { readonly data?: unknown; readonly settings: Settings }) => {
  /** The same for the same number in every arm. */
  textOf(seq: number): string;
  /** Recorded as a note `judged` of the caller. */
  judge(seq: number, answer: string): NoteEvent["values"];
  /** Numbers of questions that the agent at this position answers without the others. Absent: there are none. */
  heldBy?(agent: number): readonly number[];
};
