import type { Command } from "commander";
import { collect, parseSeconds } from "../option-values.js";
import { addCredentialOptions, identityOption, lazyAction } from "./shared-options.js";

const EXAMPLES = `
Examples:
  koine mcp http://127.0.0.1:8080                            one agent, one tool
  koine mcp travel=http://127.0.0.1:8080 http://host:9000    two, the first under a name of your choice
  koine mcp --gateway http://127.0.0.1:8080                  every agent of a host, also those that come later
  koine mcp http://127.0.0.1:8080 --per-skill                one tool for each skill

In the settings of an assistant:
  { "mcpServers": { "agents": { "command": "koine", "args": ["mcp", "http://127.0.0.1:8080"] } } }

It ends when the assistant closes stdin. stdout belongs to the assistant; everything else is said on stderr.`;

/** `koine mcp`: agents as tools of an assistant. */
export function addMcp(program: Command): void {
  const command = program
    .command("mcp")
    .description("offer agents to an assistant as MCP tools, over stdin and stdout")
    .argument("[agents...]", "where agents are: a URL, or name=URL to choose the tool's name")
    .option("--gateway <url>", "all agents of this host; may be given several times", collect)
    .option("--per-skill", "one tool for each skill of an agent that has several")
    .option("--refresh <seconds>", "how often cards and gateways are looked at again (default: 300)", parseSeconds)
    .optionsGroup("Connection:")
    .option("--protocol <pin>", "only this interface: a protocol, protocol@version, or protocol@version/binding")
    .option("--timeout <seconds>", "how long one call may take (default: 3600)", parseSeconds)
    .option("--trust <file>", "trusted public keys for card signatures; may be given several times", collect)
    .option("--trust-jku <url>", "a trusted key set (JWKS), for signatures that name exactly this URL", collect)
    .option("--require-signed", "refuse an agent whose card has no trusted signature");
  addCredentialOptions(command.addOption(identityOption()))
    .option("--same-credentials", "show the same credentials to agents of different hosts")
    .addHelpText("after", EXAMPLES)
    .action(lazyAction(async () => (await import("../mcp.js")).serveTools));
}
