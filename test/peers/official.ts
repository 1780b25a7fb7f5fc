/** An official server under test. */
export interface OfficialServer {
  readonly url: string;
  close(): Promise<void>;
}

const WORDS = ["task", "stream", "ask", "wait", "fail", "reject", "echo", "throw"];

/** The commands our own conformance agent understands: `conform: stream 3`. Everything else asks for one message. */
export function readCommand(said: string): { readonly word: string; readonly count: number } {
  const [, word = "", count = "3"] = /^conform: (\w+)\s*(\d+)?/.exec(said) ?? [];
  return { word: WORDS.includes(word) ? word : "message", count: Number(count) };
}
