import { agent, type Server, serve } from "../../src/index.js";

/**
 * Holds the gateway's port while the agents behind it start. They have to know where to find each other before there is anything
 * to open a gateway for, and a host of agents with the same names answers at the same addresses.
 */
export function reservePort(names: readonly string[], port: number): Promise<Server> {
  const handle = (): never => {
    throw new Error("the harbour is not open yet");
  };
  return serve(
    names.map((name) => agent({ name, description: "Opens in a moment", handle })),
    { port },
  );
}
