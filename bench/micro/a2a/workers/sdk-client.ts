import { Role } from "@a2a-js/sdk";
import { ClientFactory, ClientFactoryOptions } from "@a2a-js/sdk/client";
import { messageId, TEXT } from "../workload.js";
import { answerAsClient } from "./client.js";

/** The official SDK's own client, found by its card. */

answerAsClient(async (server, binding) => {
  const preferredTransports = [binding === "rpc" ? ("JSONRPC" as const) : ("HTTP+JSON" as const)];
  const factory = new ClientFactory(ClientFactoryOptions.createFrom(ClientFactoryOptions.default, { preferredTransports }));
  const client = await factory.createFromUrl(server.url);
  return {
    async send(number) {
      const result = await client.sendMessage(paramsOf(number));
      const parts = "parts" in result ? result.parts : (result.artifacts[0]?.parts ?? []);
      const content = parts[0]?.content;
      return content?.$case === "text" ? content.value : "";
    },
    stream: (number) => client.sendMessageStream(paramsOf(number)),
  };
});

function paramsOf(number: number) {
  const part = { content: { $case: "text" as const, value: TEXT }, metadata: undefined, filename: "", mediaType: "" };
  const message = {
    messageId: messageId(number),
    contextId: "",
    taskId: "",
    role: Role.ROLE_USER,
    parts: [part],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}
