import { checkDemo } from "../demo/index.js";
import { CliError, EXIT } from "./exit.js";
import type { Interrupt } from "./interrupt.js";
import type { Output } from "./output.js";

/** The checklist of `koine demo --check`, line by line. Throws when something did not hold. */
export async function checkOnce(port: number, { signal }: Interrupt, output: Output): Promise<void> {
  const { green, red, dim } = output.colors;
  let failed = 0;
  let all = 0;
  for await (const { what, ok, says, ms } of checkDemo(port, signal)) {
    all++;
    if (!ok) failed++;
    if (output.format === "json") await output.line({ what, ok, says, ms });
    else await output.text(`${ok ? green("ok ") : red("NOT")} ${what}\n      ${dim(`${says} (${ms} ms)`)}\n`);
  }
  const seconds = (performance.now() / 1000).toFixed(1);
  if (failed > 0)
    throw new CliError(EXIT.failure, `${failed} of ${all} did not hold, after ${seconds} s`, { code: "check_failed" });
  if (output.format === "text") output.say(`All ${all} hold, after ${seconds} s.`);
}
