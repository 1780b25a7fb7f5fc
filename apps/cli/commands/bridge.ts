import { type Command, InvalidArgumentError, Option } from "commander";
import { collect, parsePort, parseSeconds } from "../option-values.js";
import { CARD_POLICIES } from "./choices.js";
import { addCredentialOptions, lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine bridge http://127.0.0.1:8000                         whatever it speaks, now it speaks everything
  koine bridge http://127.0.0.1:8000 --as a2a@1.0,a2a@0.3    and only these in front
  koine bridge http://127.0.0.1:8000 --losses                what cannot be carried, before anything is sent
  koine bridge http://127.0.0.1:8000 --data ./data --secret-file ./secret    tasks survive the end of this process
  koine bridge http://127.0.0.1:8000 --host 0.0.0.0 --token-file tokens      open to the network, for holders of a token

Several agents, policies and reloading without a stop: koine gateway koine.yaml.`;

/** `koine bridge`: one agent that already runs, in every protocol. */
export function addBridge(program: Command): void {
  const command = program
    .command("bridge")
    .description("put one agent that already runs on a port, in every protocol")
    .argument("<url>", "where the agent is")
    .option("--as <ways>", "what is spoken in front: a2a@1.0,a2a@0.3,acp (default: everything)", parseWays)
    .option("--name <name>", "what the agent is called here (default: as on its card)")
    .addOption(new Option("--mode <mode>", "who owns the tasks: this gateway, or the agent").choices(["adopt", "relay"]))
    .option("--strict", "refuse what the agent cannot do, instead of standing in for it")
    .addOption(new Option("--card <policy>", "what becomes of its card").choices([...CARD_POLICIES]))
    .option("--pin <way>", "only this way is spoken with the agent: a protocol, protocol@version, or protocol@version/binding")
    .option("--timeout <seconds>", "for one answer of the agent", parseSeconds)
    .option("--losses", "print what cannot be carried between it and each way in front, and end")
    .option("--no-page", "serve no page")
    .addOption(outputOption())
    .optionsGroup("Where it listens, and for whom:")
    .option("--port <number>", "0 takes any free port", parsePort, 8080)
    .option("--host <address>", "on which address", "127.0.0.1")
    .option("--public-url <url>", "the address callers use, when a proxy stands before this one")
    .option("--token-file <file>", "one name=token per line")
    .option("--open-to-everybody", "listen beyond this machine without knowing callers")
    .option("--card-key <file>", "sign the card with this private key (PEM or JWK); may be given several times", collect)
    .optionsGroup("What is kept, and where:")
    .option("--data <dir>", "keep tasks in this folder (SQLite)")
    .addOption(new Option("--durable <what>", "what an acknowledged event in --data survives").choices(["process", "power"]))
    .option("--store <url>", "keep tasks in this Redis, shared with other gateways: redis://…")
    .option("--secret-file <file>", "what callers' names are veiled with, 16 bytes or more; needed with --data and --store")
    .optionsGroup("");
  addCredentialOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../bridge.js")).runBridge));
}

function parseWays(text: string): readonly string[] {
  const ways = text.split(",").map((way) => way.trim());
  if (ways.some((way) => way === "")) throw new InvalidArgumentError("It looks like a2a@1.0,acp.");
  return ways;
}
