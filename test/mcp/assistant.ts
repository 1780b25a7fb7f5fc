import type { ChildProcess } from "node:child_process";
import { type CallToolResult, Client, type Tool } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { KOINE } from "../programs.js";

/** An assistant with the official client, and `koine mcp` as its child process. */
export interface Assistant {
  readonly client: Client;
  /** The stderr output so far. */
  readonly stderr: () => string;
  /** The announced tool lists, oldest first. */
  readonly lists: readonly (readonly Tool[])[];
  /** The next tool list that matches. */
  listWith(fits: (tools: readonly Tool[]) => boolean): Promise<readonly Tool[]>;
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallToolResult>;
  close(): Promise<void>;
}

type CallOptions = Parameters<Client["callTool"]>[1];

export const ENTRY = [...KOINE, "mcp"] as const;

/** `modern` is protocol revision 2026-07-28, `legacy` the earlier ones. */
export async function startAssistant(args: readonly string[], era: "modern" | "legacy" = "legacy"): Promise<Assistant> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...ENTRY, ...args],
    env: { PATH: process.env["PATH"] ?? "" },
    stderr: "pipe",
  });
  let stderr = "";
  transport.stderr?.on("data", (chunk) => (stderr += chunk));
  const lists: (readonly Tool[])[] = [];
  const waiting = new Set<() => void>();
  const client = new Client(
    { name: "a-test", version: "1" },
    {
      ...(era === "modern" ? { versionNegotiation: { mode: "auto" as const } } : {}),
      listChanged: {
        tools: {
          onChanged(_error, tools) {
            lists.push(tools ?? []);
            for (const look of waiting) look();
          },
        },
      },
    },
  );
  await client.connect(transport);
  return {
    client,
    stderr: () => stderr,
    lists,
    listWith(fits) {
      return new Promise((resolve) => {
        const look = (): void => {
          const tools = lists.findLast(fits);
          if (tools === undefined) return;
          waiting.delete(look);
          resolve(tools);
        };
        waiting.add(look);
        look();
      });
    },
    call: (name, given, options) => client.callTool({ name, arguments: given }, options),
    close: () => client.close(),
  };
}

/** All text of a result. */
export function textIn({ content }: CallToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

/** The exit code, once the process has ended. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("close", (code) => resolve(code)));
}
