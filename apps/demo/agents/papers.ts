/** Demo agent with artifacts: returns a file and a data record. */
import { agent } from "../../../src/index.js";
import { numberBefore, shipIn } from "./harbour-requests.js";

const MOST_LINES = 100;

const papers = agent({
  name: "papers",
  description: "Writes bills of lading",
  skills: [
    {
      id: "bill",
      name: "A bill of lading",
      description: "As a record, and as a file",
      tags: ["papers", "artifacts"],
      examples: ['A bill for "Aurora", 3 containers'],
    },
  ],
  outputModes: ["text/plain", "text/csv", "application/json"],
  async *handle(message, task) {
    const ship = shipIn(message.text);
    if (ship === undefined) return task.ask("For which ship?");
    const containers = Math.min(numberBefore("container", message.text) ?? 1, MOST_LINES);
    const lines = Array.from({ length: containers }, (_, index) => `${index + 1},${ship},sealed`);
    yield task.artifact({ ship, containers }, { name: "record" });
    const file = new TextEncoder().encode(["container,ship,state", ...lines, ""].join("\n"));
    yield task.artifact([{ kind: "raw", bytes: file, name: "bill.csv", mediaType: "text/csv" }], { name: "bill.csv" });
    return task.complete(`The bill of ${ship} has ${containers} lines.`);
  },
});

export { papers as agent };
