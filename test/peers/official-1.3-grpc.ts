import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { AgentCard } from "@a2a-js/sdk";
import { LegacyA2AService, legacyGrpcService } from "@a2a-js/sdk/compat/v0_3/server/grpc";
import { DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler } from "@a2a-js/sdk/server/express";
import { A2AService, grpcService, UserBuilder } from "@a2a-js/sdk/server/grpc";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import express from "express";
import type { OfficialServer } from "./official.js";
import { CommandExecutor } from "./official-1.3.js";

/** The official gRPC server of the current generation, both versions on one port; its card is on another, as it speaks no HTTP/1.1. */
export async function startOfficialGrpc(): Promise<OfficialServer> {
  const grpc = new Server();
  const port = await new Promise<number>((resolve, reject) =>
    grpc.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  const address = (protocolVersion: string) => ({ url: `127.0.0.1:${port}`, protocolBinding: "GRPC", protocolVersion });
  const card = AgentCard.fromJSON({
    name: "official",
    description: "the official server under test",
    version: "1.0.0",
    supportedInterfaces: [address("1.0"), address("0.3")],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: false },
    defaultInputModes: ["text/plain", "application/json", "application/octet-stream"],
    defaultOutputModes: ["text/plain"],
    skills: [{ id: "conform", name: "Conform", description: "commands", tags: ["koine-conformance"] }],
  });
  const requestHandler = new DefaultRequestHandler(
    card,
    new InMemoryTaskStore(),
    new CommandExecutor(),
    undefined,
    new InMemoryPushNotificationStore(),
  );
  const parts = { requestHandler, userBuilder: UserBuilder.noAuthentication };
  grpc.addService(A2AService, grpcService(parts));
  grpc.addService(LegacyA2AService, legacyGrpcService(parts));
  const app = express();
  app.use("/.well-known/agent-card.json", agentCardHandler({ agentCardProvider: async () => card }));
  const http = createServer(app);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, // it listens on TCP
    async close() {
      grpc.forceShutdown();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
