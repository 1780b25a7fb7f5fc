import { connect, createServer, type Socket } from "node:net";

/** Passes each connection on to one of the replicas that take connections, and breaks it when that one dies. */
export interface Balancer {
  /** Connections passed on so far. */
  readonly passed: number;
  stop(): Promise<void>;
}

/** `ports` names the replicas to try, the preferred first. */
export async function startBalancer(port: number, ports: () => readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let passed = 0;
  const server = createServer((socket) => {
    track(socket);
    passOn(socket, [...ports()]);
  });

  function track(socket: Socket): void {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    // Broken connections are expected; both ends see the close.
    socket.on("error", () => undefined);
  }

  function passOn(socket: Socket, candidates: number[]): void {
    const chosen = candidates.shift();
    if (chosen === undefined || socket.destroyed) {
      socket.destroy();
      return;
    }
    const upstream = connect({ port: chosen, host: "127.0.0.1", noDelay: true });
    track(upstream);
    upstream.once("error", () => {
      if (upstream.connecting || upstream.pending) passOn(socket, candidates);
    });
    upstream.once("connect", () => {
      passed += 1;
      upstream.removeAllListeners("error");
      upstream.on("error", () => undefined);
      socket.pipe(upstream);
      upstream.pipe(socket);
      socket.once("close", () => upstream.destroy());
      upstream.once("close", () => socket.destroy());
    });
  }

  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    get passed() {
      return passed;
    },
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
