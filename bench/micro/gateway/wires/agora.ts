import { COUNTER, TEXT } from "../../a2a/workload.js";
import { JSON_TYPE, jsonAnswer, jsonSent, type Wire } from "./wire.js";

/** Agora as the Python library speaks it: one request, one reply, in natural language. */

export const AGORA: Wire = {
  id: "agora",
  pin: "agora@0.2/HTTP",
  http: 1,
  send: jsonSent("/", JSON.stringify({ protocolHash: null, protocolSources: [], body: `${COUNTER} ${TEXT}` })),
  stream: undefined,
  documents: () => ({}),
  answer({ method, path, body }) {
    if (method === "DELETE" && path.startsWith("/conversations/")) return ENDED;
    if (method !== "POST" || path !== "/") return undefined;
    // Only called by the benchmark and the measured code.
    const asked = JSON.parse(body.toString()) as { readonly body?: string };
    return asked.body === undefined ? undefined : jsonAnswer({ status: "success", body: asked.body });
  },
};

/** The end of a conversation that never was is a success there. */
const ENDED = { kind: "aside", status: 200, contentType: JSON_TYPE, body: JSON.stringify({ status: "success" }) } as const;
