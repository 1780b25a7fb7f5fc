/** One line on stderr that rewrites itself; silent when stderr is not a terminal. */
export interface Progress {
  show(text: string): void;
  clear(): void;
}

export function createProgress(stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return { show() {}, clear() {} };
  return {
    show: (text) => void stream.write(`\r\u001b[2K${text.slice(0, (stream.columns ?? 80) - 1)}`),
    clear: () => void stream.write("\r\u001b[2K"),
  };
}
