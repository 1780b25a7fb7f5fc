import { oneLine } from "./printable.js";

/** A progress line for long tasks, on a terminal only. */
export interface ProgressLine {
  show(state: string, text: string): void;
  /** Erases the line for good. */
  stop(): void;
}

interface ProgressOptions {
  readonly stream: { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown };
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number;
  /** Calls `run` periodically until the returned function is called. */
  readonly every?: (ms: number, run: () => void) => () => void;
}

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const;
const FRAME_MS = 100;
/** No line is shown for quick answers. */
const QUIET_MS = 300;
const ERASE = "\r\u001b[2K";
const DEFAULT_COLUMNS = 80;

export function startProgress({ stream, now = () => performance.now(), every = repeat }: ProgressOptions): ProgressLine {
  if (stream.isTTY !== true) return { show: () => undefined, stop: () => undefined };
  const start = now();
  let frame = 0;
  let state = "waiting";
  let text = "";
  let drawn = false;

  const stopTimer = every(FRAME_MS, () => {
    const elapsedMs = now() - start;
    if (elapsedMs < QUIET_MS) return;
    const spinner = FRAMES[frame++ % FRAMES.length];
    const line = `${spinner} ${state} ${formatElapsed(elapsedMs)}${text === "" ? "" : ` · ${text}`}`;
    // One column is left free: a full line would wrap, and a wrapped line cannot be erased. Some terminals report 0 columns.
    stream.write(`${ERASE}${oneLine(line, (stream.columns || DEFAULT_COLUMNS) - 1)}`);
    drawn = true;
  });

  return {
    show(newState, newText) {
      state = newState;
      if (newText !== "") text = newText;
    },
    stop() {
      stopTimer();
      if (drawn) stream.write(ERASE);
      drawn = false;
    },
  };
}

/** `12s`, `3m 05s`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, "0")}s`;
}

function repeat(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  timer.unref();
  return () => clearInterval(timer);
}
