/** Why a tool gave no result. Closed: tests and reports tell these apart. */
export const TOOL_FAILURES = [
  "invalid",
  "not_found",
  /** The program failed by itself. */
  "failed",
  /** It was stopped at a limit or did what it may not. */
  "time",
  "cpu",
  "memory",
  "output",
  "file_size",
  "processes",
  "network",
  "files",
  /** Code cannot be run here. */
  "unavailable",
] as const;
export type ToolFailure = (typeof TOOL_FAILURES)[number];

export class ToolError extends Error {
  readonly reason: ToolFailure;

  constructor(reason: ToolFailure, message: string) {
    super(message);
    this.reason = reason;
  }
}
