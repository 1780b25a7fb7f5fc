/** A process of the safety scenario: registration gateway, doctor, coordinator or relay, as the first command says. */
import { answerCommands } from "../../../harness/worker.js";
import { openHardenedDoctor } from "../controls/hardened-doctor.js";
import { openOpenDoctor } from "../controls/open-doctor.js";
import { Coordinator } from "./coordinator.js";
import { type Doctor, openKoineDoctor } from "./koine-doctor.js";
import { openRegistry, register } from "./registry.js";
import { openRelay } from "./relay.js";
import type {
  Callers,
  CoordinatorTask,
  DoctorStarted,
  DoctorTask,
  RegistryTask,
  RelayTask,
  SendOrder,
  SendReport,
} from "./tasks.js";

/** Messages that a doctor remembers. */
const REMEMBERED = 100_000;

const handled: string[] = [];
let doctor: Doctor | undefined;
let coordinator: Coordinator | undefined;

/** The same in every target: it repeats what it was told, so that answers carry the identifiers too. */
function answer(text: string): string {
  if (handled.length < REMEMBERED) handled.push(text);
  return `noted: ${text}`;
}

answerCommands({
  registry: (task: RegistryTask): Promise<number> => openRegistry(task),
  async doctor(task: DoctorTask): Promise<DoctorStarted> {
    const { kind } = task.target;
    const open = kind === "protocol" ? openKoineDoctor : kind === "open" ? openOpenDoctor : openHardenedDoctor;
    doctor = await open(task, answer);
    await register(task.registry, { name: task.name, address: doctor.address ?? task.publicUrl });
    return { port: doctor.port };
  },
  /** How many messages were handled that contain this text. */
  handled: (text: string): number => handled.filter((each) => each.includes(text)).length,
  admit: (callers: Callers) => doctor?.admit(callers),
  async coordinator(task: CoordinatorTask): Promise<readonly string[]> {
    coordinator = await Coordinator.open(task);
    return coordinator.doctors;
  },
  send(order: SendOrder): Promise<SendReport> {
    if (coordinator === undefined) throw new Error("this process is no coordinator");
    return coordinator.send(order);
  },
  relay: (task: RelayTask): Promise<number> => openRelay(task),
});
