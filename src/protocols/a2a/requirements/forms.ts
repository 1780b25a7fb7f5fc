import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { demand, demandObject, show } from "../../check.js";

/** The content of a check's request; each form encodes it. */
export interface Sending {
  readonly text?: Maybe<string>;
  readonly taskId?: Maybe<string>;
  readonly contextId?: Maybe<string>;
  readonly messageId: string;
  readonly configuration?: Maybe<JsonObject>;
}

/** A decoded task, with a normalized state. */
export interface ObservedTask {
  readonly id: unknown;
  readonly contextId: unknown;
  /** Lower case with dashes: `input-required`. */
  readonly state: string;
  readonly wireState: unknown;
  readonly timestamp: unknown;
  readonly artifacts: unknown;
  readonly history: unknown;
  readonly raw: JsonObject;
}

/** A response or stream event, classified by the rule of the form. */
export type Observed =
  | { readonly kind: "task"; readonly task: ObservedTask; readonly raw: JsonObject }
  | { readonly kind: "message"; readonly raw: JsonObject }
  | {
      readonly kind: "status";
      readonly taskId: unknown;
      readonly contextId: unknown;
      readonly state: string;
      readonly raw: JsonObject;
    }
  | {
      readonly kind: "artifact";
      readonly taskId: unknown;
      readonly contextId: unknown;
      readonly artifact: unknown;
      readonly raw: JsonObject;
    };

/** One JSON form: 1.0 has one, 0.3 has two. */
export interface Form {
  /** The params of a send. */
  send(sending: Sending): JsonObject;
  textPart(text: string): JsonObject;
  /** Classifies the content of a response or stream event. Throws if it violates the rule of the form. */
  see(value: unknown): Observed;
  seeTask(value: unknown): ObservedTask;
  /** The parts of a message or artifact. */
  partsOf(message: JsonObject): unknown;
  stateName(state: string): string;
}

const TERMINAL = new Set(["completed", "failed", "canceled", "rejected"]);
const INTERRUPTED = new Set(["input-required", "auth-required"]);
export const isOver = (state: string): boolean => TERMINAL.has(state);
export const isWaiting = (state: string): boolean => INTERRUPTED.has(state);

function plainState(value: unknown): string {
  if (typeof value !== "string") return show(value);
  const name = value
    .replace(/^TASK_STATE_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
  return name === "cancelled" ? "canceled" : name;
}

function seeTask(value: unknown): ObservedTask {
  const raw = demandObject(value, "the task");
  const status = isObject(raw["status"]) ? raw["status"] : {};
  return {
    id: raw["id"],
    contextId: raw["contextId"],
    state: plainState(status["state"]),
    wireState: status["state"],
    timestamp: status["timestamp"],
    artifacts: raw["artifacts"],
    history: raw["history"],
    raw,
  };
}

function seeStatus(raw: JsonObject): Observed {
  const status = demandObject(raw["status"], "the status of a status event");
  return { kind: "status", taskId: raw["taskId"], contextId: raw["contextId"], state: plainState(status["state"]), raw };
}

function seeArtifact(raw: JsonObject): Observed {
  return { kind: "artifact", taskId: raw["taskId"], contextId: raw["contextId"], artifact: raw["artifact"], raw };
}

/** The member name is the discriminator (A2A 1.0 §5.7): exactly one of them; other members are ignored. */
function seeMember(value: unknown): Observed {
  const holder = demandObject(value, "the result");
  const held = ["task", "message", "msg", "statusUpdate", "artifactUpdate"].filter((name) => holder[name] !== undefined);
  demand(held.length === 1, `exactly one of task, message, statusUpdate, artifactUpdate is expected, got ${show(value)}`);
  const raw = demandObject(holder[held[0] ?? ""], held[0] ?? "");
  if (held[0] === "task") return { kind: "task", task: seeTask(raw), raw };
  if (held[0] === "statusUpdate") return seeStatus(raw);
  return held[0] === "artifactUpdate" ? seeArtifact(raw) : { kind: "message", raw };
}

/** 0.3 over JSON-RPC distinguishes objects by `kind`. */
function seeKind(value: unknown): Observed {
  const raw = demandObject(value, "the result");
  if (raw["kind"] === "task") return { kind: "task", task: seeTask(raw), raw };
  if (raw["kind"] === "message") return { kind: "message", raw };
  if (raw["kind"] === "status-update") return seeStatus(raw);
  demand(raw["kind"] === "artifact-update", `kind is ${show(raw["kind"])}`);
  return seeArtifact(raw);
}

const upperState = (state: string): string => `TASK_STATE_${state.toUpperCase().replaceAll("-", "_")}`;

export const MODERN_FORM: Form = {
  send: ({ text = "hello", configuration, ...ids }) => ({
    message: { ...ids, role: "ROLE_USER", parts: [{ text }] },
    configuration,
  }),
  textPart: (text) => ({ text }),
  see: seeMember,
  seeTask,
  partsOf: ({ parts }) => parts,
  stateName: upperState,
};

/** A2A 0.3 §6: `blocking` is the inverse of `returnImmediately`. Its default was never defined, so it is always sent. */
function oldConfiguration(configuration: Maybe<JsonObject>): JsonObject {
  const { returnImmediately, ...rest } = configuration ?? {};
  return { ...rest, blocking: returnImmediately !== true };
}

export const KIND_FORM: Form = {
  send: ({ text = "hello", configuration, ...ids }) => ({
    message: { ...ids, kind: "message", role: "user", parts: [{ kind: "text", text }] },
    configuration: oldConfiguration(configuration),
  }),
  textPart: (text) => ({ kind: "text", text }),
  see: seeKind,
  seeTask,
  partsOf: ({ parts }) => parts,
  stateName: (state) => state,
};

export const OLD_PROTO_FORM: Form = {
  send: ({ text = "hello", configuration, ...ids }) => ({
    message: { ...ids, role: "ROLE_USER", content: [{ text }] },
    configuration: oldConfiguration(configuration),
  }),
  textPart: (text) => ({ text }),
  see: seeMember,
  seeTask,
  partsOf: ({ content, parts }) => content ?? parts,
  // The 0.3 protobuf name has a double L.
  stateName: (state) => (state === "canceled" ? "TASK_STATE_CANCELLED" : upperState(state)),
};
