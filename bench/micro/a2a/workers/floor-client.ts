import { Pool } from "undici";
import { CONNECTIONS, HEADERS, messageId, TEXT } from "../workload.js";
import { answerAsClient } from "./client.js";

/** The least that a Node client can do: a pool, stringify, parse. */

answerAsClient(async (server) => {
  const pool = new Pool(server.url, { connections: CONNECTIONS, pipelining: 1 });
  const request = (path: string, method: string, number: number) => {
    const message = { messageId: messageId(number), role: "ROLE_USER", parts: [{ text: TEXT }] };
    const body = JSON.stringify({ jsonrpc: "2.0", id: number, method, params: { message } });
    return pool.request({ path, method: "POST", headers: HEADERS, body });
  };
  return {
    async send(number) {
      const { body } = await request(server.rpcPath, "SendMessage", number);
      // The floor server answers nothing else.
      const answer = JSON.parse(await body.text()) as { readonly parts: readonly { readonly text: string }[] };
      return answer.parts[0]?.text ?? "";
    },
    async *stream(number) {
      const { body } = await request("/stream", "SendStreamingMessage", number);
      body.setEncoding("utf8");
      let rest = "";
      for await (const chunk of body) {
        rest += chunk;
        for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
          const event: unknown = JSON.parse(rest.slice("data: ".length, end));
          rest = rest.slice(end + 2);
          yield event;
        }
      }
    },
  };
});
