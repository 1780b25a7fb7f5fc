import type { Card } from "../../envelope/index.js";
import type { SampleCall } from "../protocol.js";
import { ASK, METHODS, VERSION } from "./wire.js";

/** One text, and a message with everything, without a signature: a host that admits anyone answers them. */
export function samples(text: string, _agent: Card): readonly SampleCall[] {
  const wire = { version: VERSION, binding: "JSONRPC" } as const;
  return [
    {
      wire,
      about: "ANP, the method ask of the described interface",
      path: "",
      headers: {},
      body: { jsonrpc: "2.0", id: "1", method: ASK, params: { text } },
    },
    {
      wire,
      about: "ANP, a message",
      path: "",
      headers: {},
      body: { jsonrpc: "2.0", id: "2", method: METHODS.send, params: { message: { parts: [{ text }] } } },
    },
  ];
}
