import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { hostname } from "node:os";
import type { Doctor } from "../members/koine-doctor.js";
import type { DoctorTask } from "../members/tasks.js";
import { listenLocally, readBody } from "./http.js";

/** The control that must fail every probe: plain HTTP, no checks, and it tells everybody everything. */
export async function openOpenDoctor(task: DoctorTask, answer: (text: string) => string): Promise<Doctor> {
  let handled = 0;
  let last: Message = { from: "", to: "", text: "" };
  const facts = () => ({
    doctor: task.name,
    caller: last.from,
    last: last.text,
    handled,
    pid: process.pid,
    uptime: Math.round(process.uptime()),
    host: hostname(),
    listens: server.address(),
    node: process.version,
  });
  const server = createServer((request, response) => void exchange(request, response));

  async function exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    response.setHeader("content-type", "application/json");
    if (request.method !== "POST") return void response.end(JSON.stringify(facts()));
    const message = JSON.parse(body.toString("utf8")) as Message; // a control trusts everybody, which is its purpose
    handled++;
    last = message;
    response.end(JSON.stringify({ answer: answer(message.text), ...facts() }));
  }

  return { port: await listenLocally(server), admit: () => undefined };
}

export interface Message {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}
