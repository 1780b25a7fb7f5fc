import { AgentError, type Handler, startCall } from "../src/envelope/index.js";
import type { Exchange, HttpResponse } from "../src/transport/exchange.js";
import { memoryLink } from "../src/transport/memory.js";
import { makeRequest } from "../src/transport/request.js";
import { type ContractRequirement, contract, demand, HOSTILE } from "./contract-requirement.js";
import {
  answering,
  clientOf,
  contextOf,
  OPERATIONS_BY_KIND,
  openInterfaces,
  outcomeOf,
  PUBLIC_URL,
  served,
} from "./scripted-host.js";

/** Requirements for a protocol whose peer is unreachable, of another protocol, or hostile. */
export const linkRequirements: readonly ContractRequirement[] = [
  contract("ping:round-trip", "A ping goes over the link, and fails when the link does.", async (protocol) => {
    for (const { handler, count, peer, label } of openInterfaces(protocol, answering)) {
      const { error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND.ping, startCall()));
      demand(error === undefined && count() > 0, `${label}: ${error?.message ?? "nothing was sent"}`);
      const dead = clientOf(protocol, memoryLink(unreachable), peer);
      const { error: failed } = await outcomeOf(() => dead(OPERATIONS_BY_KIND.ping, startCall()));
      demand(failed !== undefined, `${label}: a ping of nothing succeeded`);
    }
  }),
  contract("retry:never", "One operation is one request, whatever the answer.", async (protocol) => {
    for (const { peer, label } of openInterfaces(protocol, answering))
      for (const [what, answer] of Object.entries(FAILING))
        for (const kind of ["send", "task.get"] as const) {
          let count = 0;
          const exchange = (): HttpResponse => {
            count++;
            return answer();
          };
          const link = { exchange, close: async () => undefined };
          const { error } = await outcomeOf(() => clientOf(protocol, link, peer)(OPERATIONS_BY_KIND[kind], startCall()));
          demand(error !== undefined, `${label}: ${kind} succeeded with ${what}`);
          demand(count <= 1, `${label}: ${kind} with ${what} sent ${count} requests`);
        }
    // Once a client is set up, also by a session: refused by the agent.
    const script: Handler = async (operation) => {
      if (operation.kind === "ping") return answering(operation);
      throw new AgentError("overloaded", "try again later", { retryAfterMs: 0 });
    };
    for (const { handler, count, received, label } of openInterfaces(protocol, script)) {
      await outcomeOf(() => handler(OPERATIONS_BY_KIND.ping, startCall()));
      const [sent, heard] = [count(), received.length];
      const { error } = await outcomeOf(() => handler(OPERATIONS_BY_KIND.send, startCall()));
      demand(error?.code === "overloaded", `${label}: a refusal arrived as ${error?.code}`);
      demand(received.length === heard + 1, `${label}: the agent received the message ${received.length - heard} times`);
      demand(count() - sent <= (protocol.requestsPerCall ?? 1), `${label}: one call sent ${count() - sent} requests`);
    }
  }),
  contract(
    "discover:found",
    "Discovery finds the protocol where it is served, proves it, and says how it knows.",
    async (protocol) => {
      const finding = await protocol.discover(contextOf(memoryLink(served(protocol, answering))), PUBLIC_URL, startCall());
      demand(finding !== undefined, "nothing was found");
      demand(finding.peers.length > 0 && finding.evidence.length > 0, "no peers or no evidence");
      demand(finding.proved, `not proved: ${finding.evidence.join("; ")}`);
    },
  ),
  ...Object.entries(foreignAnswers()).map(([what, answer]) =>
    contract(`discover:${what}`, "Discovery says no, and does not throw, where something else answers.", async (protocol) => {
      const finding = await protocol.discover(contextOf(memoryLink(() => answer)), PUBLIC_URL, startCall());
      demand(finding === undefined || !finding.proved, `found ${JSON.stringify(finding?.evidence)}`);
    }),
  ),
  contract(
    "hostile:server",
    "No body crashes a server half: every one is answered, and none as a fault of the server.",
    async (protocol) => {
      const { exchange } = served(protocol, answering);
      for (const { method, path } of protocol.routes)
        for (const body of HOSTILE) {
          const url = PUBLIC_URL + path.replace("/*", "/x");
          const request = makeRequest({
            method: method === "*" ? "POST" : method,
            url,
            headers: { "content-type": "application/json" },
            body,
          });
          const { status } = await exchange(request);
          demand(status < 500, `${method} ${path} answers ${status} to ${JSON.stringify(body.slice(0, 40))}`);
        }
    },
  ),
  contract("hostile:client", "No body deceives a client half: every one is an AgentError, none a success.", async (protocol) => {
    // Some protocols read an object without known members as an empty page; anything else is invalid.
    for (const { peer, label } of openInterfaces(protocol, answering))
      for (const body of HOSTILE)
        for (const kind of body.startsWith("{") ? ANSWERED_BY_OBJECTS : ANSWERED) {
          const link = memoryLink(() => ({ status: 200, headers: { "content-type": "application/json" }, body }));
          const { events: got, error } = await outcomeOf(() =>
            clientOf(protocol, link, peer)(OPERATIONS_BY_KIND[kind], startCall()),
          );
          demand(error !== undefined, `${label}: ${kind} took ${JSON.stringify(body.slice(0, 40))} for ${JSON.stringify(got)}`);
        }
  }),
];

const unreachable: Exchange = () => {
  throw new AgentError("unavailable", "connection refused", { sent: "no" });
};

const FAILING: { readonly [what: string]: () => HttpResponse } = {
  "503": () => ({ status: 503, headers: { "retry-after": "0", "content-type": "application/json" }, body: "{}" }),
  "500": () => ({ status: 500, headers: {}, body: "" }),
  "a reset": () => {
    throw new AgentError("unavailable", "connection reset", { sent: "maybe" });
  },
  "a refused connection": () => unreachable(makeRequest({ method: "GET", url: PUBLIC_URL })) as HttpResponse, // it throws
};

const ANSWERED = ["send", "task.get", "task.list"] as const;
const ANSWERED_BY_OBJECTS = ["send", "task.get"] as const;
function foreignAnswers(): { readonly [what: string]: HttpResponse } {
  const json = { "content-type": "application/json" };
  return {
    "not-found": { status: 404, headers: {}, body: "no" },
    "web-page": { status: 200, headers: { "content-type": "text/html" }, body: "<!doctype html><title>hello</title>" },
    "other-json": { status: 200, headers: json, body: '{"hello":"world"}' },
    "other-rpc": {
      status: 200,
      headers: json,
      body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}',
    },
    broken: { status: 200, headers: json, body: "{" },
    failing: { status: 500, headers: {}, body: "" },
  };
}
