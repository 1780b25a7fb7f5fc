import type { Command } from "commander";
import { collect, collectPairs, parseSeconds } from "../option-values.js";
import { addCredentialOptions, lazyAction, outputOption } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine conform http://127.0.0.1:8080
  koine conform https://agent.example --only a2a:1.0:grpc -o json
  KOINE_TOKEN=… koine conform https://agent.example
  koine conform http://127.0.0.1:8080 --through http://127.0.0.1:9090
  koine conform did:sage:local:0x… --identity ann.json --store ./state

With --through the agent at <url> is checked directly, the gateway before it in every protocol it offers, and what holds
without the gateway and not through it is reported. In protocols that the agent does not speak, a plain host is what the gateway
is compared with.

Exit code 0 means that everything that must hold holds, or that the gateway breaks nothing; 1 that something does not.`;

/** `koine conform`: checks an endpoint against its protocol. */
export function addConform(program: Command): void {
  const command = program
    .command("conform")
    .description("check any endpoint against its protocol, requirement by requirement")
    .argument("<url>", "where the agent is, or its DID")
    .addOption(outputOption())
    .option("--only <id>", "requirements whose id begins so; may be given several times", collect)
    .option("--protocol <id>", "check this protocol, also if nothing at the address seems to speak it")
    .option("--load", "send 500 messages, 8 at a time, and print P50, P95, P99 and jitter (standard deviation over mean) instead")
    .option("--timeout <seconds>", "how long one requirement may take", parseSeconds)
    .option("--identity <file>", "call as this identity: also checks what is answered only to callers that prove theirs")
    .option("--set <protocol.key=value>", "a setting of one protocol; may be given several times", collectPairs)
    .option("--store <where>", "what protocols keep, such as a registry: the folder of `koine serve --data`, or redis://…")
    .option("--through <gateway>", "report what the gateway at this address breaks that holds without it")
    .option("--through-token-env <name>", "the environment variable with the bearer token for the gateway");
  addCredentialOptions(command)
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../conform.js")).conform));
}
