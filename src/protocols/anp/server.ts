import { AgentError, type Interface } from "../../envelope/index.js";
import type { HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { errorHeaders, jsonResponse } from "../../transport/response.js";
import { documentResponse } from "../document.js";
import { callerError } from "../host.js";
import type { Host, Route, Served } from "../protocol.js";
import { SIGNATURES } from "./authentication/signatures.js";
import { writeError } from "./codec.js";
import { errorStatus } from "./errors.js";
import { identityOf } from "./identity/own-identity.js";
import { DOCUMENT_BASE } from "./legacy-session/profile.js";
import { didIn, LegacyServer } from "./legacy-session/server.js";
import { answerPlain } from "./plain/http-server.js";
import { plainSessionRoutes, servePlainSessions } from "./plain/session-server.js";
import { CallerProofs } from "./server/caller-proof.js";
import { ServedDocuments } from "./server/documents.js";
import { Messaging } from "./server/messaging.js";
import { agentNamed } from "./server/methods.js";
import { type Named, readPath } from "./server/paths.js";
import { RpcCalls } from "./server/rpc-calls.js";
import { sessions } from "./session/index.js";
import { BASE, PROTOCOL, SESSION_PATH, VERSION } from "./wire.js";

/** All methods, so that an unsupported one is refused in the form of ANP. */
export const routes: readonly Route[] = [
  { method: "*", path: `${BASE}/*`, proves: true, signatures: SIGNATURES },
  ...sessions.routes,
  ...plainSessionRoutes,
  { method: "GET", path: `${DOCUMENT_BASE}*`, proves: true, when: (head) => didIn(head) !== undefined },
];

export function serve(host: Host): Served {
  const documents = new ServedDocuments(host);
  const proofs = new CallerProofs(host);
  const calls = new RpcCalls(host, proofs, new Messaging(host, documents));
  const session = sessions.serve(host, identityOf(host));
  const legacy = new LegacyServer(host);
  const plain = servePlainSessions(host, legacy);

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    const named = readPath(request.path);
    const old = named === undefined ? await legacy.document(request) : undefined;
    if (old !== undefined) return old;
    if (named === undefined) return refused(new AgentError("not_found", `nothing is at ${request.path.slice(0, 200)}`), 404);
    const method = named.what === "rpc" || named.what === "message" ? "POST" : "GET";
    if (request.method !== method && !(method === "GET" && request.method === "HEAD")) {
      const error = new AgentError("unsupported_method", `${request.method} is not allowed here; use ${method}`);
      return { ...refused(error, 405), headers: { "content-type": "application/json", allow: method } };
    }
    try {
      return await answer(request, named);
    } catch (thrown) {
      const error = callerError(host, thrown);
      return refused(error, error.code === "not_found" ? 404 : errorStatus(error));
    }
  }

  async function answer(request: HttpRequest, { what, agent }: Named): Promise<HttpResponse> {
    switch (what) {
      case "description":
        return documentResponse(request, documents.description(request, agentNamed(host, agent)), "");
      case "interface":
        return documentResponse(request, documents.interface(request, agentNamed(host, agent)), "");
      case "rpc":
        return calls.answer(request, agent);
      case "message":
        return answerPlain(host, proofs, request);
      default:
        return what satisfies never;
    }
  }

  function interfaces(agent: string, publicUrl: string): readonly Interface[] {
    const at = documents.addresses(publicUrl, agent);
    const via = { protocol: PROTOCOL, version: VERSION };
    return [
      ...(at.session === undefined ? [] : [{ ...via, binding: "WS", url: at.session }]),
      { ...via, binding: "JSONRPC", url: at.rpc },
    ];
  }

  return {
    exchange,
    interfaces,
    contributions: documents.contributions(),
    accept: (each) => (each.request.path === SESSION_PATH ? plain : session).accept(each),
    // Only the old session has a proof in its messages; the plain form has the credentials of the request.
    proves: ({ path }) => path !== SESSION_PATH || legacy.isOn,
    // Who has several sessions is told in the sealed one.
    say: (owner, envelope) =>
      session.say(owner, envelope).catch((thrown: unknown) => {
        if (AgentError.from(thrown).facts.sent !== "no") throw thrown;
        return plain.say(owner, envelope);
      }),
    close: async () => void (await Promise.all([session.close(), plain.close()])),
  };
}

function refused(error: AgentError, status: number): HttpResponse {
  return jsonResponse(status, writeError(undefined, error), errorHeaders(error));
}
