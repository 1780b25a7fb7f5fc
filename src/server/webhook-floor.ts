import {
  type AgentError,
  type Floor,
  firstMissing,
  floorNamed,
  floorOf,
  floorRefusal,
  type IdSource,
  isSealed,
  type Maybe,
  NO_FLOOR,
  type Part,
  raiseFloor,
  type Task,
  type TaskEvent,
} from "../envelope/index.js";
import type { PolicySink } from "../policies/index.js";
import { type AuditSink, exposureOfAll, type Identity, identitySigner, type PinnedUrl } from "../security/index.js";
import type { PushNotification } from "../tasks/index.js";
import type { RequestSigner } from "../transport/exchange.js";
import { auditFloor, type FloorAudit } from "./floor-audit.js";

/** The destination in notes: addresses of webhooks come from callers, and are no metric labels. */
const DESTINATION = "webhook";
const WHY = "a webhook at this address does not provide";
const [ENCRYPTED, SIGNED, TLS, SEALED] = [
  floorOf(["encrypted"]),
  floorOf(["signed"]),
  floorOf(["encrypted", "identity"]),
  floorOf(["encrypted", "end-to-end"]),
];

/** The part of a push sender's options that decides about security, for the options of a host. Refusals are counted and audited. */
export function webhookSecurity(
  { identity, audit }: { readonly identity?: Maybe<Identity>; readonly audit?: Maybe<AuditSink> },
  notes: Maybe<PolicySink>,
  ids: IdSource,
): { readonly floor: WebhookFloor; readonly signer: Maybe<RequestSigner> } {
  const signer = identity?.keys().some(({ uses }) => uses.includes("authentication"))
    ? identitySigner(identity, () => ids.now())
    : undefined;
  const audited = auditFloor(audit, ids, { who: "server", what: "a push notification" });
  const noted: FloorAudit = (note, owner) => {
    notes?.(note);
    audited?.(note, owner);
  };
  return { floor: new WebhookFloor({ signs: signer !== undefined, notes: noted }), signer };
}

/** Holds push notifications to the security of the call that set their webhook. */
export class WebhookFloor {
  /** Notifications are signed with the identity of the server. */
  readonly #signed: Floor;
  readonly #notes: Maybe<FloorAudit>;

  constructor({ signs, notes }: { readonly signs: boolean; readonly notes: Maybe<FloorAudit> }) {
    this.#signed = signs ? SIGNED : NO_FLOOR;
    this.#notes = notes;
  }

  /** The refusal of a webhook whose notifications could never have the security. What is sealed is known with each of them only. */
  ofWebhook({ config, owner }: Pick<PushNotification, "config" | "owner">, target: PinnedUrl): Maybe<AgentError> {
    if (config.floor === undefined) return undefined;
    return this.#refusal({ config, owner }, raiseFloor(this.#providedAt(target), floorOf(["end-to-end"])));
  }

  /** The refusal of one notification. */
  async ofNotification({ config, owner, event, task }: PushNotification, target: PinnedUrl): Promise<Maybe<AgentError>> {
    if (config.floor === undefined) return undefined;
    const provided = this.#providedAt(target);
    if (firstMissing(floorNamed(config.floor), provided) === undefined) return undefined;
    // Some versions send the whole task with every event.
    const isAllSealed = partsOfEvent(event).every(isSealed) && partsOfTask(await task()).every(isSealed);
    return this.#refusal({ config, owner }, isAllSealed ? raiseFloor(provided, SEALED) : provided);
  }

  /** What stays on this host crosses no wire. A certificate says who the receiver is. */
  #providedAt({ url, addresses }: PinnedUrl): Floor {
    if (url.startsWith("https:")) return raiseFloor(TLS, this.#signed);
    const isLocal = exposureOfAll(addresses.map(({ address }) => address)) === "loopback";
    return raiseFloor(isLocal ? ENCRYPTED : NO_FLOOR, this.#signed);
  }

  #refusal({ config, owner }: Pick<PushNotification, "config" | "owner">, provided: Floor): Maybe<AgentError> {
    const { floor = "", via } = config;
    const missing = firstMissing(floorNamed(floor), provided);
    if (missing === undefined) return undefined;
    const error = floorRefusal(missing, WHY);
    const note = { kind: "floor", outcome: "refused", requirement: missing, because: error.message } as const;
    this.#notes?.({ ...note, destination: DESTINATION, protocol: via?.protocol, traceId: undefined }, owner);
    return error;
  }
}

function partsOfEvent(event: TaskEvent): readonly Part[] {
  switch (event.kind) {
    case "task":
      return partsOfTask(event.task);
    case "status":
      return event.status.message?.content ?? [];
    case "artifact":
      return event.artifact.parts;
    default:
      return event satisfies never;
  }
}

function partsOfTask(task: Maybe<Task>): readonly Part[] {
  if (task === undefined) return [];
  const { status, history, artifacts } = task;
  return [
    ...(status.message?.content ?? []),
    ...history.flatMap(({ content }) => content),
    ...artifacts.flatMap(({ parts }) => parts),
  ];
}
