import { type Command, Option } from "commander";
import { collect, collectPairs, parseInterfaces, parsePort, parseSeconds } from "../option-values.js";
import { CARD_POLICIES } from "./choices.js";
import {
  addAdminOptions,
  addCredentialOptions,
  addLogOptions,
  addProxyOptions,
  addTraceOptions,
  identityOption,
  lazyAction,
  outputOption,
  requireOption,
} from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine bridge http://127.0.0.1:8000                         every protocol, whatever the agent speaks
  koine bridge http://127.0.0.1:8000 --as a2a@1.0,a2a@0.3    only these on the listener
  koine bridge http://127.0.0.1:8000 --losses                what cannot be carried, before anything is sent
  koine bridge http://127.0.0.1:8000 --data ./data --secret-file ./secret    tasks survive the end of this process
  koine bridge http://127.0.0.1:8000 --host 0.0.0.0 --token-file tokens      open to the network, for holders of a token

Several agents, policies and reloading without a stop: koine gateway koine.yaml.`;

/** `koine bridge`: one running agent, in every protocol. */
export function addBridge(program: Command): void {
  const command = program
    .command("bridge")
    .description("put one agent that already runs on a port, in every protocol")
    .argument("<url>", "where the agent is")
    .option("--as <interfaces>", "listener interfaces: a2a@1.0,a2a@0.3/JSONRPC,acp (default: all)", parseInterfaces)
    .option("--no-grpc", "list and serve no gRPC interface, for clients that accept only http URLs on a card")
    .option("--name <name>", "what the agent is called here (default: as on its card)")
    .addOption(new Option("--mode <mode>", "who owns the tasks: this gateway, or the agent").choices(["adopt", "relay"]))
    .option("--strict", "refuse what the agent cannot do, instead of emulating it")
    .addOption(new Option("--card <policy>", "how its card is published").choices([...CARD_POLICIES]))
    .option("--pin <interface>", "only this interface of the agent: a protocol, protocol@version, or protocol@version/binding")
    .addOption(identityOption())
    .addOption(requireOption("security that callers must bring and the agent must provide"))
    .option("--timeout <seconds>", "for one answer of the agent", parseSeconds)
    .option("--set <protocol.key=value>", "a setting of one protocol, see below; may be given several times", collectPairs)
    .option("--losses", "print what cannot be carried between it and each listener interface, and exit")
    .option("--no-page", "serve no page")
    .addOption(outputOption())
    .optionsGroup("Listener:")
    .option("--port <number>", "0 takes any free port", parsePort, 8080)
    .option("--host <address>", "on which address", "127.0.0.1")
    .option("--public-url <url>", "the address callers use, when a proxy forwards to this one")
    .option("--token-file <file>", "one name=token per line")
    .option("--allow-did <did>", "admit callers that sign with a key of this DID; may be given several times", collect)
    .option("--listener-identity <file>", "the identity of this gateway: the DID of --public-url, whose document is published")
    .option("--open-to-everybody", "listen beyond this machine without authentication")
    .option("--card-key <file>", "sign the card with this private key (PEM or JWK); may be given several times", collect)
    .optionsGroup("Storage:")
    .option("--data <dir>", "keep tasks in this folder (SQLite)")
    .addOption(new Option("--durable <what>", "what an acknowledged event in --data survives").choices(["process", "power"]))
    .option("--store <url>", "keep tasks in this Redis, shared with other gateways: redis://…")
    .option("--secret-file <file>", "the key that pseudonymizes callers' names, 16 bytes or more; needed with --data and --store")
    .optionsGroup("Listener:");
  addAdminOptions(addTraceOptions(addLogOptions(addProxyOptions(command).optionsGroup("Operator:")))).optionsGroup("");
  addCredentialOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../bridge.js")).runBridge));
}
