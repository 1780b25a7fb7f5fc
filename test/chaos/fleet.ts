import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { compiled } from "../programs.js";
import type { ReplicaFacts } from "./replica.js";

/** A replica that dies is started again at the same port, as a supervisor would. */
export interface Replica {
  readonly port: number;
  readonly pid: number;
  readonly ready: boolean;
  readonly frozen: boolean;
}

export interface Fleet {
  readonly replicas: readonly Replica[];
  /** SIGKILL; a successor is started at once. */
  kill(replica: Replica): void;
  /** SIGSTOP now, SIGCONT after so long. */
  freeze(replica: Replica, ms: number): void;
  /** When each process was killed or frozen, by its id. */
  readonly struckAt: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

const READY_MS = 30_000;

class Member implements Replica {
  ready = false;
  frozen = false;
  thaw: NodeJS.Timeout | undefined;

  constructor(
    readonly port: number,
    readonly child: ChildProcess,
  ) {}

  get pid(): number {
    return this.child.pid ?? 0;
  }
}

/** Starts replicas and waits until all of them answer. */
export async function startFleet(ports: readonly number[], facts: Omit<ReplicaFacts, "port">): Promise<Fleet> {
  const members: Member[] = [];
  const struckAt = new Map<number, number>();
  let stopping = false;

  function start(port: number): Promise<void> {
    const argv = [compiled("test/chaos/replica.ts"), JSON.stringify({ ...facts, port })];
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
    const member = new Member(port, child);
    const before = members.findIndex((each) => each.port === port);
    if (before < 0) members.push(member);
    else members[before] = member;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`the replica at port ${port} did not answer in time`)), READY_MS);
      child.stdout?.once("data", () => {
        clearTimeout(late);
        member.ready = true;
        resolve();
      });
      child.once("exit", (code) => {
        clearTimeout(late);
        clearTimeout(member.thaw);
        if (!member.ready) reject(new Error(`the replica at port ${port} ended with ${code} before it answered`));
        member.ready = false;
        if (!stopping) start(port).catch((thrown: unknown) => process.stderr.write(`${String(thrown)}\n`));
      });
    });
  }

  const memberOf = ({ pid }: Replica): Member | undefined => members.find((each) => each.pid === pid);
  await Promise.all(ports.map(start));
  return {
    get replicas() {
      return members;
    },
    kill(replica) {
      const member = memberOf(replica);
      if (member === undefined) return;
      member.ready = false;
      struckAt.set(member.pid, Date.now());
      member.child.kill("SIGKILL");
    },
    freeze(replica, ms) {
      const member = memberOf(replica);
      if (member === undefined) return;
      member.frozen = true;
      struckAt.set(member.pid, Date.now());
      member.child.kill("SIGSTOP");
      member.thaw = setTimeout(() => {
        member.child.kill("SIGCONT");
        member.frozen = false;
      }, ms);
    },
    struckAt,
    async stop() {
      stopping = true;
      await Promise.all(
        members.map(({ child, thaw }) => {
          clearTimeout(thaw);
          return new Promise<void>((resolve) => {
            if (child.exitCode !== null || child.signalCode !== null) resolve();
            else child.once("exit", () => resolve());
            child.kill("SIGKILL");
          });
        }),
      );
    },
  };
}

/** Ports that are free at this moment. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer();
          server.listen(0, "127.0.0.1", () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
