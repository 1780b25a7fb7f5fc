import type { Cancel, Json, Maybe } from "../../../envelope/index.js";
import type { LanguageModel } from "../../../router/models/index.js";
import type { ClientDocument } from "../client/documents.js";
import { asData, DATA_RULE } from "../negotiation/untrusted.js";
import type { SenderTask } from "./options.js";

/** The content of a message. */
export interface Wanted {
  readonly task: SenderTask;
  readonly data: Json;
}

/** A question in natural language. Text is sent as it is; data is phrased by the model, or appended to the task's description. */
export async function naturalLanguage({ task, data }: Wanted, model: Maybe<LanguageModel>, cancel: Cancel): Promise<string> {
  if (typeof data === "string") return data;
  if (model === undefined) return `${task.description}\n${JSON.stringify(data)}`;
  const system = `You ask a service in natural language to do a task with the data given. Write only the message to it, with everything it needs to know.\n${DATA_RULE}`;
  return model.complete({ system, messages: [{ role: "user", content: described({ task, data }) }] }, cancel);
}

/** A message that follows a document, written by the model. */
export function byDocument(wanted: Wanted, document: ClientDocument, model: LanguageModel, cancel: Cancel): Promise<string> {
  const system = `You write one message to a service, exactly as a protocol document demands it for the task and the data given. Write only the message.\n${DATA_RULE}`;
  const content = `${asData("THE PROTOCOL DOCUMENT", document.text)}\n${described(wanted)}`;
  return model.complete({ system, messages: [{ role: "user", content }] }, cancel);
}

function described({ task, data }: Wanted): string {
  return `${asData("THE TASK", task.description)}\n${asData("THE DATA", JSON.stringify(data))}`;
}
