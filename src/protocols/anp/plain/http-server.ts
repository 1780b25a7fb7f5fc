import { AgentError, isPromise } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { readObject } from "../../../transport/fields.js";
import { errorHeaders, jsonResponse } from "../../../transport/response.js";
import { callerError } from "../../host.js";
import type { Host } from "../../protocol.js";
import { ERROR_TABLE } from "../errors.js";
import type { CallerProofs } from "../server/caller-proof.js";
import { agentNamed, decodeFactsOf } from "../server/methods.js";
import { PLAIN, PROTOCOL } from "../wire.js";
import { answerMeta, decodePlain, encodePlainAnswer, plainAnswerOf } from "./codec.js";

const VIA = { protocol: PROTOCOL, version: PLAIN, binding: "PLAIN" } as const;

/** Answers `POST /anp/message` of the seeds. A proof is not needed, and is checked if there is one. */
export async function answerPlain(host: Host, proofs: CallerProofs, request: HttpRequest): Promise<HttpResponse> {
  try {
    const { caller, proved, head } = await proofs.callerOf(request);
    const agent = agentNamed(host, undefined);
    const { requestId, type, envelope } = decodePlain(request.json(), decodeFactsOf(host, caller, agent));
    const answered = { requestId, type, ts: host.now() / 1_000 };
    if (type === "META") {
      const { ts } = answered;
      const payload = answerMeta(readObject(request.json(), ""));
      const answer = { type: "anp_response", request_id: requestId, protocol_type: type, payload, timestamp: ts };
      return jsonResponse(200, JSON.stringify(answer), head);
    }
    const call = host.begin(request, { caller, agent: agent.name, via: VIA, proved });
    const reply = host.handler({ kind: "send", envelope, delivery: "answer", task: "auto" }, call);
    if (!isPromise(reply)) throw new AgentError("internal", "the agent answered a message with a stream");
    const answer = encodePlainAnswer(answered, plainAnswerOf(await reply), (loss) => call.reportLoss(loss));
    return jsonResponse(200, JSON.stringify(answer), head);
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
