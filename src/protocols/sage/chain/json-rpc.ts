import { AgentError, type Maybe } from "../../../envelope/index.js";
import { fetchJson, hostOf } from "../../../security/fetch-json.js";
import { readObject } from "../../../transport/fields.js";
import { DEFAULT_LIMITS } from "../../../transport/limits.js";
import { isLoopbackHost } from "../../../transport/loopback.js";
import { poolLink } from "../../../transport/node/index.js";

/** Limits of a chain node's answers. */
export const RPC_LIMITS = { timeoutMs: 10_000, bytes: 4 * 1024 * 1024 } as const;

/** A chain node, by JSON-RPC over HTTP. */
export interface ChainNode {
  request(call: { readonly method: string; readonly params?: unknown }): Promise<unknown>;
  close(): Promise<void>;
}

/** What a node answers instead of a result; the client reads the reasons of a contract from it. */
class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * Connects to the node at a URL, which may contain a key: messages name its host only. Records read in clear could be forged on the
 * way, so http is for this machine.
 */
export function openNode(url: string, timeoutMs: number = RPC_LIMITS.timeoutMs): ChainNode {
  if (!URL.canParse(url)) throw invalid("the address of the chain node is not a URL; write https://host/path");
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopbackHost(hostname)))
    throw invalid(`the chain node at ${hostOf(url)} must be reached by https; http is for nodes on this machine`);
  const link = poolLink({ limits: { ...DEFAULT_LIMITS, bodyBytes: RPC_LIMITS.bytes }, connectTimeoutMs: timeoutMs });
  let calls = 0;
  return {
    close: () => link.close(),
    async request({ method, params = [] }) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: ++calls, method, params });
      const headers = { "content-type": "application/json" };
      const { status, json } = await fetchJson({
        method: "POST",
        url,
        headers,
        body,
        timeoutMs,
        maxBytes: RPC_LIMITS.bytes,
        link,
      });
      return resultOf(json, `the chain node at ${hostOf(url)} answered ${status}`);
    },
  };
}

function resultOf(json: unknown, answered: string): unknown {
  const answer: Maybe<ReturnType<typeof readObject>> = json === undefined ? undefined : readObject(json, "");
  if (answer !== undefined && "result" in answer) return answer["result"];
  if (answer?.["error"] === undefined) throw new AgentError("bad_peer", `${answered} without a result`);
  const error = readObject(answer["error"], "error");
  throw new RpcError(Number(error["code"]), String(error["message"]).slice(0, 500), error["data"]);
}

function invalid(message: string): AgentError {
  return new AgentError("invalid_message", message, { field: "rpc", sent: "no" });
}
