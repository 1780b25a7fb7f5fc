// `npm run test:attack [-- --full]`: attacks on a gateway process. The short form is what CI runs.
import { spawnSync } from "node:child_process";

const args = process.argv.slice(2);
const env = { ...process.env, KOINE_ATTACK: args.includes("--full") ? "full" : "short" };
const others = args.filter((arg) => arg !== "--full");
const command = ["node_modules/vitest/vitest.mjs", "run", "--config", "vitest.attack.config.ts", ...others];
process.exit(spawnSync(process.execPath, command, { env, stdio: "inherit" }).status ?? 1);
