import type { AgentEvent, Json, LossSink, Maybe } from "../../../envelope/index.js";
import type { Host } from "../../protocol.js";
import { withSignatures } from "../card/served-card.js";
import type { Dialect } from "../dialect.js";
import { interfacesOf } from "./addresses.js";
import type { Answering } from "./answering.js";
import { extensionHeaders } from "./extensions.js";

/**
 * The response of a unary operation, for every binding. A card gets the addresses and signatures of this host, like the public
 * card.
 */
export function writeAnswer(host: Host, dialect: Dialect, answering: Answering, event: AgentEvent): Json {
  const { operation, reportLoss, agent, request } = answering;
  if (event.kind !== "card") return dialect.encodeResult(operation, event, reportLoss);
  const interfaces = interfacesOf(host, agent, host.publicUrl(request));
  return withSignatures(host, dialect.encodeCard({ ...event.card, interfaces }));
}

/** The same as JSON text. */
export function answerText(host: Host, dialect: Dialect, answering: Answering, event: AgentEvent): string {
  const { operation, reportLoss } = answering;
  if (operation.kind === "send" && dialect.writeEventText !== undefined && isAnswer(event))
    return dialect.writeEventText(event, reportLoss);
  return JSON.stringify(writeAnswer(host, dialect, answering, event));
}

/** What a send that is not streamed is answered with. */
function isAnswer({ kind }: AgentEvent): boolean {
  return kind === "message" || kind === "task";
}

/** One event of a stream as JSON text. */
export function streamText(dialect: Dialect, event: AgentEvent, reportLoss: LossSink): string {
  return dialect.writeEventText?.(event, reportLoss) ?? JSON.stringify(dialect.encodeStreamItem(event, reportLoss));
}

/** The response headers: active extensions, and no caching for responses specific to a caller. */
export function answerHeaders(
  { operation, parameters }: Answering,
  version: Dialect["version"],
): Maybe<{ readonly [name: string]: string }> {
  const extensions = extensionHeaders(parameters, version);
  return operation.kind === "card" ? { ...extensions, "cache-control": "private, no-store" } : extensions;
}
