import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "../src/envelope/index.js";

/** One request to a scripted model, as received over the wire. */
export interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: JsonObject;
}

export interface ScriptedModelServer {
  /** For `openAiModel`. */
  readonly baseUrl: string;
  readonly asked: readonly Asked[];
  close(): Promise<void>;
}

/** A loopback server for chat completions: the script returns the text, or writes the whole response. */
export async function scriptedModelServer(
  script: (asked: Asked, response: ServerResponse) => string | undefined,
): Promise<ScriptedModelServer> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const one = { path: request.url ?? "", headers: request.headers, body: JSON.parse(Buffer.concat(pieces).toString()) };
      asked.push(one);
      const words = script(one, response);
      if (words === undefined) return;
      const choice = { index: 0, message: { role: "assistant", content: words }, finish_reason: "stop" };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ id: "c", object: "chat.completion", model: one.body["model"], choices: [choice] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a server that listens on a port has one
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
