import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { Got } from "../../ask.js";
import { demand, show } from "../../duty.js";
import { STATUSES, type WireStatus } from "../wire.js";

/** A reply of any dialect, read without our codec: a check of a server is no check of our reader. */
export interface Reply {
  readonly got: Got;
  readonly json: JsonObject;
  readonly status: WireStatus;
  /** The answer, or the words of an error, wherever the dialect has them; empty where there are none. */
  readonly text: string;
  readonly conversationId: Maybe<string>;
}

function statusOf(json: unknown): Maybe<WireStatus> {
  return isObject(json) ? STATUSES.find((each) => each === json["status"]) : undefined;
}

/** True for what any reader of Agora takes for a reply. */
export function isReply({ json }: Got): boolean {
  return statusOf(json) !== undefined;
}

/** Ends a check where no reply of Agora came. */
export function readReply(got: Got): Reply {
  const { json } = got;
  const status = statusOf(json);
  demand(isObject(json) && status !== undefined, `answered ${got.status} ${show(json ?? got.text)}, which is no reply of Agora`);
  const said = status === "success" ? json["body"] : (json["message"] ?? json["body"]);
  const id = json["conversationId"];
  return {
    got,
    json,
    status,
    text: typeof said === "string" ? said : "",
    conversationId: typeof id === "string" && id !== "" ? id : undefined,
  };
}

/** The document is known and was read, but nobody serves it. */
export function isRejected({ status, text }: Reply): boolean {
  return status === "rejected" || (status !== "success" && /not suitable|rejected|unsupported/i.test(text));
}
