import type { Card } from "../../envelope/index.js";
import type { SampleCall } from "../protocol.js";

/** The released protocol, and the seed's plain endpoint. */
export function samples(text: string, { name }: Card): readonly SampleCall[] {
  return [
    {
      wire: undefined,
      about: "BeeAI ACP 0.2",
      path: "/runs",
      headers: {},
      body: {
        agent_name: name,
        input: [{ role: "user", parts: [{ content_type: "text/plain", content: text }] }],
        mode: "sync",
      },
    },
    {
      wire: undefined,
      about: "the plain endpoint of BeeAI ACP",
      path: "/acp/message",
      headers: {},
      body: { id: "m-1", type: "request", sender: "me", receiver: name, payload: { text } },
    },
  ];
}
