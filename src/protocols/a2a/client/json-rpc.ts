import { AgentError } from "../../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { blame } from "../../../transport/fields.js";
import { encodeRpcRequest, parseRpcResponse, type RpcAnswer, rpcRequestText } from "../../../transport/json-rpc.js";
import { badPeer, jsonBody, refuseRedirect } from "../../../transport/peer-answer.js";
import { makeRequest } from "../../../transport/request.js";
import { errorFromRest, errorFromRpc } from "../errors.js";
import { OPERATIONS } from "../operations.js";
import { type ClientBinding, commonHeaders, type Outgoing } from "./binding.js";

export const jsonRpcBinding: ClientBinding = {
  name: "JSONRPC",

  write(outgoing: Outgoing): HttpRequest {
    const { peer, name, params, text, id, call } = outgoing;
    const method = peer.version === "0.3" ? OPERATIONS[name].v03 : name;
    if (method === undefined) throw new AgentError("unsupported_method", `A2A 0.3 has no ${name} over JSON-RPC`, { sent: "no" });
    const headers = commonHeaders(outgoing);
    headers["content-type"] = "application/json";
    const body = text === undefined ? encodeRpcRequest(id, method, params) : rpcRequestText(id, method, text);
    return makeRequest({ method: "POST", url: peer.url, headers, body, call });
  },

  readResult(response: HttpResponse, { id, name }: Outgoing): unknown {
    refuseRedirect(response);
    if (response.status >= 300) return throwHttp(response, id);
    const returnsNothing = name === "DeleteTaskPushNotificationConfig";
    const body = jsonBody(response);
    if (body === undefined && returnsNothing) return {};
    if (body === undefined) throw badPeer(response, "the answer is empty");
    return resultOf(body, id, returnsNothing);
  },

  readItem: (data, { id }) => resultOf(data, id, false),
};

function resultOf(body: unknown, id: string, returnsNothing: boolean): unknown {
  const answer = readAnswer(body, id, returnsNothing);
  if (answer.kind === "error") throw errorFromRpc(answer.error);
  return answer.result;
}

function readAnswer(body: unknown, id: string, returnsNothing: boolean): RpcAnswer {
  try {
    return parseRpcResponse(body, id, returnsNothing);
  } catch (thrown) {
    throw blame(thrown, "bad_peer");
  }
}

/** Some servers send the JSON-RPC error with an HTTP error status; the JSON-RPC error is more specific. */
function throwHttp(response: HttpResponse, id: string): never {
  let body: unknown;
  try {
    body = jsonBody(response);
    resultOf(body, id, false);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code !== "bad_peer") throw error;
  }
  throw errorFromRest(response.status, body, response.headers);
}
