// Compiles the contracts of the protocols, src/protocols/*/contracts/*.sol, into a JSON file beside each source. The compiler is
// pinned, so that the same source gives the same bytes.
// --check  writes nothing; fails if a file is not what its source compiles to
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import solc from "solc";

const ROOT = "src/protocols";
/** The oldest rules that both Ethereum and Kaia execute. No metadata: it would change with every comment. */
const SETTINGS = {
  evmVersion: "london",
  optimizer: { enabled: true, runs: 200 },
  metadata: { appendCBOR: false, bytecodeHash: "none" },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
};

const check = process.argv.includes("--check");
const sources = readdirSync(ROOT)
  .map((protocol) => join(ROOT, protocol, "contracts"))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)))
  .filter((file) => file.endsWith(".sol"));

let failed = false;
for (const source of sources) {
  const name = basename(source, ".sol");
  const artifact = source.replace(/\.sol$/, ".json");
  const text = compiled(name, readFileSync(source, "utf8"));
  const same = existsSync(artifact) && readFileSync(artifact, "utf8") === text;
  if (!check && !same) writeFileSync(artifact, text);
  failed ||= check && !same;
  console.log(
    `${artifact}: ${same ? "matches its source" : check ? "differs; run node tools/compile-contracts.mjs" : "written"}`,
  );
}
process.exit(failed ? 1 : 0);

function compiled(name, content) {
  const input = { language: "Solidity", sources: { [name]: { content } }, settings: SETTINGS };
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  for (const { formattedMessage } of errors) console.error(formattedMessage);
  if (errors.length > 0) process.exit(1);
  const { abi, evm } = contracts[name][name];
  return `${JSON.stringify({ contract: name, compiler: solc.version(), abi, bytecode: `0x${evm.bytecode.object}` }, undefined, 1)}\n`;
}
