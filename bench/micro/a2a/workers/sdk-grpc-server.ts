import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { A2AService, grpcService, UserBuilder } from "@a2a-js/sdk/server/grpc";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { answerCommands } from "../../../harness/worker.js";
import type { ServerAddress, StartServer } from "../workload.js";
import { cardAt, executorOf } from "./sdk-agent.js";

/** The official SDK's gRPC service on grpc-js, set up as its README says. */

answerCommands({ start });

async function start({ mode }: StartServer): Promise<ServerAddress> {
  const requestHandler = new DefaultRequestHandler(cardAt("http://127.0.0.1"), new InMemoryTaskStore(), executorOf(mode));
  const server = new Server();
  server.addService(A2AService, grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (failed, bound) =>
      failed === null ? resolve(bound) : reject(failed),
    );
  });
  return { url: `http://127.0.0.1:${port}`, port, rpcPath: "", restPath: "" };
}
