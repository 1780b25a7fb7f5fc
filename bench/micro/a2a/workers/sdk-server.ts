import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { answerCommands } from "../../../harness/worker.js";
import { IDLE_MS, type ServerAddress, type StartServer } from "../workload.js";
import { cardAt, executorOf } from "./sdk-agent.js";

/** The official SDK, set up as its README says: express, default request handler, memory store. */

answerCommands({ start });

async function start({ mode }: StartServer): Promise<ServerAddress> {
  const app = express();
  const server = createServer(app);
  server.keepAliveTimeout = IDLE_MS;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  // A listening TCP server has an address object.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const requestHandler = new DefaultRequestHandler(cardAt(url), new InMemoryTaskStore(), executorOf(mode));
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: requestHandler }));
  app.use("/a2a", jsonRpcHandler(options));
  app.use("/rest", restHandler(options));
  return { url, port, rpcPath: "/a2a", restPath: "/rest/message:send" };
}
