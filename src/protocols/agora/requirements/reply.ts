import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { RawResponse } from "../../ask.js";
import { demand, show } from "../../check.js";
import { STATUSES, type WireStatus } from "../wire.js";

/** A reply of any dialect, decoded independently of the codec under test. */
export interface Reply {
  readonly got: RawResponse;
  readonly json: JsonObject;
  readonly status: WireStatus;
  /** The answer or error text, wherever the dialect puts it. Empty if there is none. */
  readonly text: string;
  readonly conversationId: Maybe<string>;
}

function statusOf(json: unknown): Maybe<WireStatus> {
  return isObject(json) ? STATUSES.find((each) => each === json["status"]) : undefined;
}

/** Whether readers of Agora accept it as a reply. */
export function isReply({ json }: RawResponse): boolean {
  return statusOf(json) !== undefined;
}

/** Fails the check if the response is not an Agora reply. */
export function readReply(got: RawResponse): Reply {
  const { json } = got;
  const status = statusOf(json);
  demand(isObject(json) && status !== undefined, `answered ${got.status} ${show(json ?? got.text)}, which is not an Agora reply`);
  const text = status === "success" ? json["body"] : (json["message"] ?? json["body"]);
  const id = json["conversationId"];
  return {
    got,
    json,
    status,
    text: typeof text === "string" ? text : "",
    conversationId: typeof id === "string" && id !== "" ? id : undefined,
  };
}

/** The document was read, but is not supported. */
export function isRejected({ status, text }: Reply): boolean {
  return status === "rejected" || (status !== "success" && /not suitable|rejected|unsupported/i.test(text));
}
