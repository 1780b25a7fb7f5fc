import { randomBytes } from "node:crypto";
import { startWorker, type Worker } from "../../harness/processes.js";
import { createIdentities, type RunIdentities } from "../harness/identities.js";
import type { Pair } from "./certificates/authority.js";
import type { TrustMaterial } from "./certificates/matrix.js";
import {
  CALLERS,
  type CallerName,
  type Callers,
  type CoordinatorTask,
  type Credentials,
  type DoctorStarted,
  type DoctorTask,
  type RegistryAddress,
  type RegistryTask,
  type RelayTask,
  type SendOrder,
  type SendReport,
  type SentRequest,
  type TargetKind,
} from "./members/tasks.js";
import type { Target } from "./result/event.js";
import { Secrets } from "./secrets.js";
import { Tap } from "./wire/tap.js";

export const DOCTORS = ["doctor_a", "doctor_b"] as const;
export type DoctorName = (typeof DOCTORS)[number];

export interface StageParts {
  readonly target: Target;
  readonly material: TrustMaterial;
  /** The compiled program of a member. */
  readonly program: string;
  /** Where private keys are while the target runs. */
  readonly identityFolder: string;
  readonly startMs: number;
}

interface StagedDoctor {
  readonly worker: Worker;
  readonly tap: Tap;
  /** Where it really listens, which callers do not know. */
  port: number;
}

/** The processes of one target: registration gateway, coordinator and two doctors, with a tap before each doctor. */
export class Stage {
  readonly target: Target;
  readonly material: TrustMaterial;
  /** What evidence must not show. */
  readonly secrets = new Secrets();
  readonly #parts: StageParts;
  readonly #registry: Worker;
  readonly #coordinator: Worker;
  readonly #doctors: ReadonlyMap<DoctorName, StagedDoctor>;
  readonly #relays: Worker[] = [];
  readonly #credentialsOf: Readonly<Record<CallerName, { readonly token: string; readonly key: string }>>;
  readonly #identities: RunIdentities | undefined;
  #legitimate: CallerName = "coordinator";
  #messages = 0;

  private constructor(parts: StageParts, doctors: ReadonlyMap<DoctorName, StagedDoctor>, identities: RunIdentities | undefined) {
    this.target = parts.target;
    this.material = parts.material;
    this.#parts = parts;
    this.#doctors = doctors;
    this.#identities = identities;
    this.#registry = startWorker("registry", parts.program);
    this.#coordinator = startWorker("coordinator", parts.program);
    const secret = () => ({ token: `token-${randomBytes(16).toString("hex")}`, key: randomBytes(32).toString("hex") });
    this.#credentialsOf = { coordinator: secret(), next: secret(), other: secret() };
    for (const { token, key } of Object.values(this.#credentialsOf)) for (const each of [token, key]) this.secrets.add(each);
  }

  static async open(parts: StageParts): Promise<Stage> {
    const doctors = new Map<DoctorName, StagedDoctor>();
    for (const name of DOCTORS) doctors.set(name, { worker: startWorker(name, parts.program), tap: await Tap.open(), port: 0 });
    let stage: Stage | undefined;
    try {
      stage = new Stage(parts, doctors, await identitiesFor(parts, doctors));
      await stage.#start();
      return stage;
    } catch (thrown) {
      await (stage === undefined ? endDoctors(doctors) : stage.close());
      throw thrown;
    }
  }

  get members(): readonly { readonly name: string; readonly pid: number }[] {
    const workers = [this.#registry, this.#coordinator, ...[...this.#doctors.values()].map(({ worker }) => worker)];
    return workers.map(({ name, pid }) => ({ name, pid }));
  }

  /** Who is admitted now. */
  get legitimate(): CallerName {
    return this.#legitimate;
  }

  /** What only this stage says, so that it can be counted and looked for. */
  newText(about: string): string {
    return `${about}-${++this.#messages}-${randomBytes(6).toString("hex")}`;
  }

  doctor(name: DoctorName): { readonly tap: Tap; readonly port: number; readonly pid: number; readonly url: string } {
    const found = this.#doctors.get(name);
    if (found === undefined) throw new Error(`there is no ${name}`);
    return { tap: found.tap, port: found.port, pid: found.worker.pid, url: this.#urlOf(found.tap) };
  }

  /** The DIDs and names by which callers are known. */
  get callerNames(): readonly string[] {
    const did = this.#identities?.dids.get("coordinator");
    return ["coordinator", ...(did === undefined ? [] : [did])];
  }

  async send(order: Partial<SendOrder> & { readonly text: string }): Promise<SendReport> {
    const whole: SendOrder = { doctor: "doctor_a", as: this.#legitimate, fresh: false, inject: {}, ...order };
    const report = await this.#coordinator.ask<SendReport>("send", whole);
    this.secrets.learn(report);
    return report;
  }

  /** How often a doctor handled a message with this text. */
  handled(doctor: DoctorName, text: string): Promise<number> {
    const found = this.#doctors.get(doctor);
    return found === undefined ? Promise.resolve(0) : found.worker.ask<number>("handled", text);
  }

  /** A message of the admitted caller is answered by its doctor. */
  async legitimateSucceeds(): Promise<boolean> {
    const text = this.newText("ROUTINE");
    const { answer } = await this.send({ text });
    return answer === `noted: ${text}` && (await this.handled("doctor_a", text)) === 1;
  }

  /** A message that was made and signed and did not leave: what an attacker has who got it before its recipient. */
  async withheld(text: string): Promise<SentRequest> {
    const { requests, errors } = await this.send({ text, inject: { withhold: true } });
    // The client tries other interfaces afterwards, in vain.
    const found = requests.find(carriesMessage);
    if (found === undefined) throw new Error(`the coordinator made no message: ${errors.join("; ")}`);
    return found;
  }

  /** Replaces what the coordinator proves itself by: only `next` is admitted from now on. */
  async rotate(): Promise<void> {
    this.#legitimate = "next";
    const each = [...this.#doctors].map(([name, { worker }]) => worker.ask("admit", this.#callersOf(name)));
    await Promise.all(each);
  }

  /** A relay between the tap of a doctor and the doctor, with a certificate that callers accept. */
  async openRelay(name: DoctorName): Promise<{ readonly pid: number; readonly port: number }> {
    const relay = startWorker("relay", this.#parts.program);
    this.#relays.push(relay);
    const { material } = this.#parts;
    const task: RelayTask = {
      tls: this.#serverPair(),
      port: this.doctor(name).port,
      upstream: this.#isClear() ? undefined : { ca: material.ca, certificate: material.client.valid },
    };
    return { pid: relay.pid, port: await relay.ask<number>("relay", task, this.#parts.startMs) };
  }

  async close(): Promise<void> {
    const others = [this.#registry, this.#coordinator, ...this.#relays];
    for (const worker of others) worker.stop();
    await Promise.all([endDoctors(this.#doctors), ...others.map(({ ended }) => ended)]);
    this.#identities?.remove();
  }

  async #start(): Promise<void> {
    const { startMs, material } = this.#parts;
    const token = randomBytes(16).toString("hex");
    this.secrets.add(token);
    const registryTask: RegistryTask = { token, tls: this.#serverPair() };
    const port = await this.#registry.ask<number>("registry", registryTask, startMs);
    const scheme = this.#isClear() ? "http" : "https";
    const registry: RegistryAddress = { url: `${scheme}://127.0.0.1:${port}`, token, ca: material.ca };
    await Promise.all([...this.#doctors].map(([name, doctor]) => this.#startDoctor(name, doctor, registry)));
    const task: CoordinatorTask = {
      target: kindOf(this.target),
      row: this.target.row,
      registry,
      trust: { ca: material.ca, crl: material.crl },
      records: this.#identities?.records ?? [],
      credentials: this.#credentials(),
    };
    const found = await this.#coordinator.ask<readonly string[]>("coordinator", task, startMs);
    if (found.length !== DOCTORS.length)
      throw new Error(`the directory has ${found.length} doctors instead of ${DOCTORS.length}`);
  }

  async #startDoctor(name: DoctorName, doctor: StagedDoctor, registry: RegistryAddress): Promise<void> {
    const { material, startMs } = this.#parts;
    const pair = this.#serverPair();
    const file = this.#identities?.files.get(name);
    const task: DoctorTask = {
      target: kindOf(this.target),
      row: this.target.row,
      name,
      publicUrl: this.#urlOf(doctor.tap),
      registry,
      tls: pair && { ...pair, clientCa: material.ca, crl: material.crl },
      callers: this.#callersOf(name),
      identity: file === undefined ? undefined : { file, records: this.#identities?.records ?? [] },
    };
    const { port } = await doctor.worker.ask<DoctorStarted>("doctor", task, startMs);
    doctor.port = port;
    doctor.tap.target = port;
  }

  /** Somebody else is admitted by the second doctor, and by it alone. */
  #callersOf(name: DoctorName): Callers {
    const admitted: readonly CallerName[] = name === "doctor_b" ? [this.#legitimate, "other"] : [this.#legitimate];
    return {
      tokens: Object.fromEntries(admitted.map((each) => [each, this.#credentialsOf[each].token])),
      dids: admitted.flatMap((each) => this.#identities?.dids.get(each) ?? []),
      // As many keys as doctors: a message for one says nothing to the other.
      key: this.#credentialsOf[this.#legitimate].key,
    };
  }

  #credentials(): CoordinatorTask["credentials"] {
    const { row } = this.target;
    const { material } = this.#parts;
    const of = (name: CallerName): Credentials => ({
      token: row.callers === "bearer" ? this.#credentialsOf[name].token : undefined,
      identity: this.#identities?.files.get(name),
      key: this.#credentialsOf[name].key,
      certificate: row.transport === "mtls" ? material.client[name === "other" ? "wrong_host" : "valid"] : undefined,
    });
    return { coordinator: of("coordinator"), next: of("next"), other: of("other") };
  }

  #isClear(): boolean {
    return this.target.row.transport === "clear";
  }

  #serverPair(): Pair | undefined {
    return this.#isClear() ? undefined : this.#parts.material.server.valid;
  }

  #urlOf(tap: Tap): string {
    return urlOf(this.target, tap);
  }
}

const carriesMessage = ({ body }: SentRequest): boolean => body.length > 0;

/** The request that carried a delivered message: the last one, because a peer may answer the first with a challenge. */
export function messageIn({ requests, errors }: SendReport): SentRequest {
  const found = requests.findLast(carriesMessage);
  if (found === undefined) throw new Error(`the coordinator sent no message: ${errors.join("; ")}`);
  return found;
}

function urlOf({ row }: Target, tap: Tap): string {
  return `${row.transport === "clear" ? "http" : "https"}://127.0.0.1:${tap.port}`;
}

function kindOf({ protocol, deployment }: Target): TargetKind {
  if (protocol !== null) return { kind: "protocol", protocol };
  return { kind: deployment === "open" ? "open" : "hardened" };
}

async function endDoctors(doctors: ReadonlyMap<DoctorName, StagedDoctor>): Promise<void> {
  for (const { worker, tap } of doctors.values()) {
    worker.stop();
    tap.close();
  }
  await Promise.all([...doctors.values()].map(({ worker }) => worker.ended));
}

/** Identities of both doctors and of everybody who may call, where the deployment knows callers by their DID. */
async function identitiesFor(
  { target, identityFolder }: StageParts,
  doctors: ReadonlyMap<DoctorName, StagedDoctor>,
): Promise<RunIdentities | undefined> {
  if (target.protocol === null || target.row.callers !== "did") return undefined;
  const agents = [...doctors].map(([name, { tap }]) => ({ name, endpoint: urlOf(target, tap) }));
  return createIdentities(target.protocol, identityFolder, [...agents, ...CALLERS.map((name) => ({ name, endpoint: "" }))]);
}
