import { readFileSync } from "node:fs";
import solc from "solc";

/** A contract, ready to be deployed. */
export interface Compiled {
  readonly abi: readonly unknown[];
  readonly bytecode: string;
}

/** Compiles a contract with the pinned compiler, not optimized: that is faster. */
export function compileContract(name: string, content: string): Compiled {
  const settings = { evmVersion: "london", outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } } };
  const output = JSON.parse(solc.compile(JSON.stringify({ language: "Solidity", sources: { [name]: { content } }, settings })));
  const failed: readonly { readonly formattedMessage: string }[] = output.errors ?? [];
  if (failed.length > 0) throw new Error(failed.map(({ formattedMessage }) => formattedMessage).join("\n"));
  const { abi, evm } = output.contracts[name][name];
  return { abi, bytecode: `0x${evm.bytecode.object}` };
}

/** The stand-in for AgentCardRegistry. */
export function standIn(): { readonly registry: Compiled } {
  return { registry: compileContract("AgentCards", readFileSync(new URL("fixtures/AgentCards.sol", import.meta.url), "utf8")) };
}
