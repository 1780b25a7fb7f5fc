import { createInterface } from "node:readline";
import { configFrom, openGateway } from "../../../apps/gateway/index.js";

/**
 * A gateway of a configuration document, in its own process. Prints `ready <url>` once it answers, `interfaces <json>` for a line
 * `interfaces`, its memory after collection for `memory <name>`, and `reloaded <name>` after `reload <name> <document>`.
 */
const FOLDER = { folder: process.cwd(), env: {} };
const gateway = await openGateway(configFrom(JSON.parse(process.argv[2] ?? "{}"), FOLDER));
const interfaces = gateway.agents().map(({ name }) => [name, gateway.interfaces(name)]);

async function obey(line: string): Promise<void> {
  const [word, name, ...rest] = line.split(" ");
  if (word === "memory") {
    (globalThis as { gc?: () => void }).gc?.();
    process.stdout.write(`memory ${name} ${JSON.stringify(process.memoryUsage())}\n`);
  } else if (word === "reload") {
    await gateway.reload(configFrom(JSON.parse(rest.join(" ")), FOLDER));
    process.stdout.write(`reloaded ${name}\n`);
  } else if (word === "interfaces") process.stdout.write(`interfaces ${JSON.stringify(Object.fromEntries(interfaces))}\n`);
}
/** Its input ends with the process that started it: nothing is left behind by a test that was killed. */
createInterface({ input: process.stdin })
  .on("close", () => process.exit())
  .on("line", (line) => {
    obey(line).catch((thrown: unknown) => process.stdout.write(`refused ${line.slice(0, 40)} ${String(thrown)}\n`));
  });
process.stdout.write(`ready ${gateway.url}\n`);
