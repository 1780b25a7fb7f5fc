import { type LoadedServer, pairedServers } from "../../harness/paired-arms.js";
import type { Arm } from "../../harness/rounds.js";
import { type GrpcMethod, grpcTemplate, probeGrpc } from "./grpc-call.js";
import { type SectionSettings, warmUpOf } from "./sections.js";
import type { ServerWorker, Stage } from "./stage.js";
import { CONNECTIONS, STREAM_EVENTS } from "./workload.js";

/** The lengths of answers, where no sample is available. */
const TYPICAL_BYTES = 300;

/** gRPC against a bare HTTP/2 server that answers with as many messages of the same lengths. */
export async function grpcArms(stage: Stage, settings: SectionSettings): Promise<readonly Arm[]> {
  const load = stage.startOther("load");
  const servers: LoadedServer[] = [];
  const add = async (name: string, method: GrpcMethod, server: ServerWorker): Promise<readonly number[]> => {
    const messages = await probeGrpc(server.address.url, method);
    const template = grpcTemplate(server.address.port, method);
    await load.ask("run over HTTP/2", { template, window: warmUpOf(name, settings) });
    servers.push({ name, server, template });
    return messages;
  };
  const addAll = async (work: "" | " stream", method: GrpcMethod, typical: readonly number[]): Promise<void> => {
    const mode = work === "" ? "reply" : "stream";
    const messages = stage.families.has("koine")
      ? await add(`koine${work}`, method, await stage.startServer("koine", mode))
      : typical;
    await add(`http2${work}`, method, await stage.startGrpc("http2-floor-server", { messages }));
    if (work === "") await add("http2 again", method, await stage.startGrpc("http2-floor-server", { messages }));
    if (stage.families.has("a2a-js")) await add(`a2a-js${work}`, method, await stage.startGrpc("sdk-grpc-server", { mode }));
  };
  await addAll("", "SendMessage", [TYPICAL_BYTES]);
  await addAll(" stream", "SendStreamingMessage", new Array<number>(STREAM_EVENTS).fill(TYPICAL_BYTES));
  const sizes = { connections: CONNECTIONS, sliceMs: settings.window.windowMs };
  return pairedServers(load, servers, sizes, "turns over HTTP/2");
}
