import type { CapturedMessageSummary } from "../../../src/public/inspect.js";

/** Filter of the message list. Empty members match everything. */
export interface MessageFilter {
  readonly agent: string;
  readonly protocol: string;
  readonly direction: string;
  readonly failedOnly: boolean;
  readonly traceId: string;
  readonly text: string;
}

export const EVERYTHING: MessageFilter = {
  agent: "",
  protocol: "",
  direction: "",
  failedOnly: false,
  traceId: "",
  text: "",
};

/** Compiles the filter, so that the text is normalized once and not per message. */
export function matcher(filter: MessageFilter): (message: CapturedMessageSummary) => boolean {
  const text = filter.text.trim().toLowerCase();
  return (message) =>
    (filter.agent === "" || message.agent === filter.agent || message.caller === filter.agent) &&
    (filter.protocol === "" || message.via.protocol === filter.protocol) &&
    (filter.direction === "" || message.direction === filter.direction) &&
    (!filter.failedOnly || message.status === "failed") &&
    (filter.traceId === "" || message.traceId === filter.traceId) &&
    (text === "" || haystack(message).includes(text));
}

function haystack({ text, agent, caller, operation, error, traceId, taskId = "" }: CapturedMessageSummary): string {
  return `${text}\n${agent}\n${caller}\n${operation}\n${error?.message ?? ""}\n${traceId}\n${taskId}`.toLowerCase();
}
