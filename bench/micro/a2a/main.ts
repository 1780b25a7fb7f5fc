import { runDriver } from "../../harness/driver.js";
import type { Titles } from "../../harness/report.js";
import { HELP, parseOptions } from "./options.js";
import { runBench } from "./run.js";

const TITLES: Titles = {
  server: "Server alone, raw sockets, 16 connections",
  both: "Client and server, 16 calls in flight",
  streams: "Streams of 20 events, client and server, 16 at a time",
  "client send": "Clients of one server, a message each, CPU time of the client",
  "client stream": "Clients of one server, a stream of 20 events each, CPU time of the client",
  "kept tasks": "Task-producing sends to servers that keep more tasks",
  "open streams": "Messages to servers with more open streams",
  grpc: "gRPC server alone, raw sockets, 16 connections",
  memory: "Memory of 1,000 open streams, server process",
  codec: "One message of about 300 bytes, encode and decode, in process",
  "tasks kept": "Resident memory over 100,000 task-producing sends",
};

await runDriver({
  name: "bench:a2a",
  help: HELP,
  parse: parseOptions,
  measure: async (options, context) => ({ result: await runBench(options, context), titles: TITLES }),
});
