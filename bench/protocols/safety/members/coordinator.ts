import { poolLink } from "../../../../src/transport/node/index.js";
import { openControlCaller } from "../controls/control-caller.js";
import { type Caller, chooseInterface, openKoineCaller } from "./koine-caller.js";
import { ProbeLink } from "./probe-link.js";
import { pullDirectory } from "./registry.js";
import {
  type CallerName,
  type CoordinatorTask,
  type DirectoryEntry,
  errorsOf,
  type Injection,
  type SendOrder,
  type SendReport,
} from "./tasks.js";

/** The directory is read again after so long, as in the paper. */
const PULL_MS = 5_000;

interface Line {
  readonly link: ProbeLink;
  readonly caller: Caller;
}

/** Routes messages to the doctors of the directory. Its send path has the layer of the probes. */
export class Coordinator {
  readonly #task: CoordinatorTask;
  readonly #lines = new Map<string, Promise<Line>>();
  #directory: readonly DirectoryEntry[] = [];
  #chosen: Promise<string> | undefined;

  private constructor(task: CoordinatorTask) {
    this.#task = task;
  }

  static async open(task: CoordinatorTask): Promise<Coordinator> {
    const coordinator = new Coordinator(task);
    coordinator.#directory = await pullDirectory(task.registry);
    setInterval(() => void coordinator.#refresh(), PULL_MS);
    return coordinator;
  }

  get doctors(): readonly string[] {
    return this.#directory.map(({ name }) => name);
  }

  async send({ doctor, text, as, fresh, inject }: SendOrder): Promise<SendReport> {
    const key = `${as} ${doctor}`;
    let line: Line | undefined;
    const link = this.#link(as);
    try {
      if (fresh) line = await this.#open(doctor, as, link, inject);
      else {
        const known = this.#lines.get(key) ?? this.#open(doctor, as, link, {});
        this.#lines.set(key, known);
        line = await known;
        line.link.begin(inject);
      }
      const answer = await line.caller.send(text);
      return { answer, errors: [], requests: line.link.sent };
    } catch (thrown) {
      if (line === undefined) this.#lines.delete(key);
      return { answer: undefined, errors: errorsOf(thrown), requests: (line?.link ?? link).sent };
    } finally {
      if (fresh) await (line?.caller ?? link).close().catch(() => undefined);
    }
  }

  async #refresh(): Promise<void> {
    // A gateway that does not answer now leaves the directory as it was.
    this.#directory = await pullDirectory(this.#task.registry).catch(() => this.#directory);
  }

  #link(as: CallerName): ProbeLink {
    const { trust, credentials } = this.#task;
    const { certificate } = credentials[as];
    return new ProbeLink(poolLink({ tls: { ...trust, ...certificate } }));
  }

  async #open(doctor: string, as: CallerName, link: ProbeLink, inject: Injection): Promise<Line> {
    const entry = this.#directory.find(({ name }) => name === doctor);
    if (entry === undefined) throw new Error(`the directory has no ${doctor}`);
    const task = this.#task;
    const { skewMs = 0 } = inject;
    link.begin(inject);
    const parts = {
      ...{ task, address: entry.address, link, credentials: task.credentials[as] },
      now: () => Date.now() + skewMs,
    };
    if (task.target.kind !== "protocol") return { link, caller: openControlCaller(parts, doctor) };
    return { link, caller: await openKoineCaller(parts, await this.#interface(doctor)) };
  }

  /** Chosen once, without any probe: doctors offer the same ones. */
  #interface(doctor: string): Promise<string> {
    this.#chosen ??= chooseInterface({
      task: this.#task,
      address: this.#directory.find(({ name }) => name === doctor)?.address ?? "",
      link: this.#link("coordinator"),
      credentials: this.#task.credentials.coordinator,
      now: Date.now,
    });
    return this.#chosen;
  }
}
