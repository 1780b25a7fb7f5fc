import { CliError, EXIT } from "./exit.js";
import { systemCode } from "./problem.js";

/** Where it was to listen, and by which words somebody chooses another place. */
export interface ListenPlace {
  readonly host: string;
  readonly port: number;
  /** `--port`, or the member of a configuration. */
  readonly portBy: string;
  readonly hostBy: string;
}

/** What keeps a port from being opened, in words that help; anything else is left as it is. */
export function listenProblem(thrown: unknown, { host, port, portBy, hostBy }: ListenPlace): unknown {
  switch (systemCode(thrown)) {
    case "EADDRINUSE":
      return new CliError(EXIT.failure, `port ${port} of ${host} is in use`, {
        code: "port_in_use",
        hint: `Choose another with ${portBy}, or 0 for any free one.`,
      });
    case "EACCES":
      return new CliError(EXIT.failure, `port ${port} may not be used by this user`, {
        hint: `Choose one above 1023 with ${portBy}.`,
      });
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new CliError(EXIT.failure, `${host} is not an address of this machine`, { hint: `Choose another with ${hostBy}.` });
    default:
      return thrown;
  }
}
