// Compiles the AgentCardRegistry of SAGE 1.5.2 and its hook: node compile.mjs OUTPUT. The sources are those in the Go module, which
// go.sum pins; what they import is from npm. Neither is in this repository. They ask for the compiler 0.8.20; ours is a later 0.8.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import solc from "solc";

const MODULE = "github.com/sage-x-project/sage";
const IMPORTED = {
  name: "@openzeppelin/contracts",
  version: "5.4.0",
  integrity: "sha512-eCYgWnLg6WO+X52I16TZt8uEjbtdkgLC0SUX/xnAksjjrQI4Xfn4iBRoI5j55dmlOhDv1Y7BoR3cU7e3WWhC6A==",
};
const CONTRACTS = { registry: "AgentCardRegistry", hook: "AgentCardVerifyHook" };
/** As a shell exits if there is no such command. */
const NOT_FOUND = 127;

function run(command, args, options = {}) {
  const { error, status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8", ...options });
  if (error?.code === "ENOENT") {
    console.error(`${command} was not found`);
    process.exit(NOT_FOUND);
  }
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed: ${error?.message ?? ""}${stderr}`);
  return stdout;
}

/** The folder of the module in the cache of Go. */
function moduleFolder() {
  return JSON.parse(run("go", ["mod", "download", "-json", MODULE], { cwd: join(import.meta.dirname, "..", "sage-go") })).Dir;
}

/** Unpacks what the contracts import into a folder. */
function unpackImported(folder) {
  const { name, version, integrity } = IMPORTED;
  const [{ filename }] = JSON.parse(run("npm", ["pack", `${name}@${version}`, "--json", "--pack-destination", folder]));
  const archive = join(folder, filename);
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== integrity) throw new Error(`${name}@${version} has another content than expected: ${found}`);
  run("tar", ["-xzf", archive, "-C", folder]);
  return join(folder, "package");
}

function compile(sources, imported) {
  const read = (path) =>
    readFileSync(path.startsWith(IMPORTED.name) ? join(imported, path.slice(IMPORTED.name.length)) : join(sources, path), "utf8");
  const contents = (path) => read(path).replace(/^pragma solidity 0\.8\.\d+;$/m, "pragma solidity ^0.8.20;");
  const names = Object.values(CONTRACTS);
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(names.map((name) => [`${name}.sol`, { content: contents(`${name}.sol`) }])),
    settings: {
      evmVersion: "london",
      viaIR: true,
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: (path) => ({ contents: contents(path) }) }));
  const failed = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (failed.length > 0) throw new Error(failed.map(({ formattedMessage }) => formattedMessage).join("\n"));
  return Object.fromEntries(
    Object.entries(CONTRACTS).map(([key, name]) => {
      const { abi, evm } = output.contracts[`${name}.sol`][name];
      return [key, { abi, bytecode: `0x${evm.bytecode.object}` }];
    }),
  );
}

const [, , target] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "koine-agent-card-"));
try {
  const sources = join(moduleFolder(), "contracts", "ethereum", "contracts");
  writeFileSync(target, JSON.stringify(compile(sources, unpackImported(folder))));
} finally {
  rmSync(folder, { recursive: true });
}
