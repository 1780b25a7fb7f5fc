/** An official server under test. */
export interface OfficialServer {
  readonly url: string;
  close(): Promise<void>;
}

const WORDS = ["task", "stream", "ask", "wait", "fail", "reject", "echo", "throw"];

/** The commands of our own conformance agent: `conform: stream 3`. Everything else asks for one message. */
export function readCommand(text: string): { readonly word: string; readonly count: number } {
  const [, word = "", count = "3"] = /^conform: (\w+)\s*(\d+)?/.exec(text) ?? [];
  return { word: WORDS.includes(word) ? word : "message", count: Number(count) };
}
