import type { JsonObject } from "../../envelope/index.js";
import type { SampleCall } from "../protocol.js";

const V1 = { "A2A-Version": "1.0" } as const;

/** A2A 1.0 §3.1.1 and §5.3, A2A 0.3 §7.1, and the seed's plain endpoint, which is on no card. */
export function samples(text: string): readonly SampleCall[] {
  const message: JsonObject = { messageId: "m-1", role: "ROLE_USER", parts: [{ text }] };
  const legacy: JsonObject = { kind: "message", messageId: "m-1", role: "user", parts: [{ kind: "text", text }] };
  return [
    {
      wire: { version: "1.0", binding: "JSONRPC" },
      about: "A2A 1.0, JSON-RPC",
      path: "",
      headers: V1,
      body: { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } },
    },
    {
      wire: { version: "1.0", binding: "HTTP+JSON" },
      about: "A2A 1.0, HTTP+JSON",
      path: "/message:send",
      headers: V1,
      body: { message },
    },
    {
      wire: { version: "0.3", binding: "JSONRPC" },
      about: "A2A 0.3, JSON-RPC",
      path: "",
      headers: {},
      body: { jsonrpc: "2.0", id: 1, method: "message/send", params: { message: legacy } },
    },
    {
      wire: undefined,
      about: "the plain endpoint of A2A",
      path: "/message",
      headers: {},
      body: { id: "m-1", params: { message: { text }, context: {} } },
    },
  ];
}
