import { Pool } from "undici";
import { CONNECTIONS, HEADERS, messageId, TEXT } from "../workload.js";
import { answerAsClient } from "./client.js";

/** The least that a client of an A2A 1.0 server can do: a pool, stringify, parse. Nothing is checked. */

interface Answer {
  readonly result: { readonly message: { readonly parts: readonly { readonly text: string }[] } };
}

answerAsClient(async (server) => {
  const pool = new Pool(server.url, { connections: CONNECTIONS, pipelining: 1 });
  const request = (method: string, number: number, headers: Readonly<Record<string, string>>) => {
    const message = { messageId: messageId(number), role: "ROLE_USER", parts: [{ text: TEXT }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id: number, method, params: { message } });
    return pool.request({ path: server.rpcPath, method: "POST", headers, body });
  };
  return {
    async send(number) {
      const { body } = await request("SendMessage", number, HEADERS);
      const answer = JSON.parse(await body.text()) as Answer; // the served agent answers nothing else
      return answer.result.message.parts[0]?.text ?? "";
    },
    async *stream(number) {
      const { body } = await request("SendStreamingMessage", number, { ...HEADERS, Accept: "text/event-stream" });
      body.setEncoding("utf8");
      let rest = "";
      for await (const chunk of body) {
        rest += chunk;
        for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
          const data = rest.lastIndexOf("data: ", end);
          const event: unknown = JSON.parse(rest.slice(data + "data: ".length, end));
          rest = rest.slice(end + 2);
          yield event;
        }
      }
    },
  };
});
