import { AgentError, type AgentEvent, answerOf, isPromise, type Maybe, type Part } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { decodePlain, encodePlainAnswer } from "../codec/plain.js";
import { ERROR_TABLE } from "../errors.js";
import { MESSAGING, PROTOCOL, VERSION } from "../wire.js";
import type { CallerProofs } from "./caller-proof.js";
import { agentNamed, decodeFactsOf } from "./methods.js";

const VIA = { protocol: PROTOCOL, version: VERSION, binding: "PLAIN" } as const;

/** Answers `POST /anp/message` of the seeds. A proof is not needed, and is checked if there is one. */
export async function answerPlain(host: Host, proofs: CallerProofs, request: HttpRequest): Promise<HttpResponse> {
  try {
    const { caller, proved, head } = await proofs.callerOf(request);
    const agent = agentNamed(host, undefined);
    const { requestId, type, envelope } = decodePlain(request.json(), decodeFactsOf(host, caller, agent));
    if (type === "META")
      throw new AgentError("unsupported", `negotiation is by ${MESSAGING.negotiate} of the described interface`, {
        field: "protocol_type",
      });
    const call = host.begin(request, { caller, agent: agent.name, via: VIA, proved });
    const reply = host.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, call);
    if (!isPromise(reply)) throw new AgentError("internal", "the agent answered a message with a stream");
    const { parts, taskId } = answerIn(await reply);
    return jsonResponse(200, JSON.stringify(encodePlainAnswer(requestId, parts, host.now() / 1_000, taskId)), head);
  } catch (thrown) {
    const error = proofs.challenged(request, callerError(host, thrown));
    const { http } = ERROR_TABLE[error.code];
    return jsonResponse(
      http === 200 ? statusOf(error) : http,
      JSON.stringify({ error: error.message, code: error.code }),
      errorHeaders(error),
    );
  }
}

/** The plain form has no JSON-RPC: the status says whose fault it is. */
function statusOf({ code }: AgentError): number {
  return code === "internal" || code === "encode" ? 500 : 400;
}

function answerIn(event: AgentEvent): { readonly parts: readonly Part[]; readonly taskId: Maybe<string> } {
  if (event.kind === "message") return { parts: event.message.content, taskId: undefined };
  if (event.kind === "task") return { parts: answerOf(event.task), taskId: event.task.id };
  throw new AgentError("internal", `the agent answered a message with ${event.kind}`);
}
