import { externalizeLargeParts } from "../client/externalize.js";
import { streamLinks } from "../client/follow-links.js";
import type { LargeParts } from "../client/large-parts.js";
import { type Maybe, withReferredParts } from "../envelope/index.js";
import type { AddressClass } from "../security/index.js";
import { type AgentFunction, InboundMessage, type ReadPart } from "../tasks/index.js";
import type { Agent } from "./agent.js";
import { type OnError, withErrorReporting } from "./report-errors.js";

/** What a host adds to the function of an agent. */
export interface FunctionContext {
  readonly onError: Maybe<OnError>;
  readonly large: Maybe<LargeParts>;
  readonly reach: AddressClass;
}

/** The function of an agent as a host runs it: errors are reported, references are parts, and large parts go by reference. */
export function servedFunction({ handle, upstreamUrls = [] }: Agent, { onError, large, reach }: FunctionContext): AgentFunction {
  // A gateway passes messages on as they are.
  const reading = upstreamUrls.length > 0 ? handle : withReferences(handle);
  const reporting = onError === undefined ? reading : withErrorReporting(reading, onError);
  if (large === undefined) return reporting;
  // The operator chose the upstream, so its references may be followed wherever it is.
  const hosts = upstreamUrls.filter((url) => /^(https?|wss?):/i.test(url) && URL.canParse(url)).map((url) => new URL(url).host);
  const isOf = (url: string): boolean => URL.canParse(url) && hosts.includes(new URL(url).host);
  const read: ReadPart = (part, signal) => streamLinks(reach, hosts)(part, signal);
  return externalizeLargeParts(reporting, large, hosts.length === 0 ? undefined : { isOf, read });
}

/** What `context.artifactRefs` names is among the parts of the message. */
function withReferences(handle: AgentFunction): AgentFunction {
  return (message, task) => {
    const content = withReferredParts(message);
    return handle(content === message.content ? message : new InboundMessage({ ...message, content }), task);
  };
}
