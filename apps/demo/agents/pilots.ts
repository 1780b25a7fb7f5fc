/** Demo agent that streams its answer. For requests by night it calls the rules agent first. */
import { agent } from "../../../src/index.js";
import { onBehalfOf, shipIn, work } from "./harbour-requests.js";

const LOOK_MS = 150;
const SIGHTS = ["past the red buoy", "slow ahead", "the harbour mouth is clear", "lines ashore"] as const;

const pilots = agent({
  name: "pilots",
  description: "Brings ships in and reports on the way",
  skills: [
    {
      id: "bring-in",
      name: "Bring a ship in",
      description: "From the buoy to the quay, streamed",
      tags: ["ships", "streaming"],
      examples: ['Bring "Aurora" in'],
    },
  ],
  async *handle(message, task) {
    const ship = shipIn(message.text);
    if (ship === undefined) return task.ask("Which ship is it?");
    if (/\bnight\b/i.test(message.text)) {
      yield task.working("asking the rules about the night");
      const ruling = await pilots.ask("rules", `May ${ship} come in by night?`, onBehalfOf(message, task));
      if (ruling.startsWith("No")) return task.reject(ruling);
      yield `${ruling} `;
    }
    yield task.working(`on board of ${ship}`);
    yield `${ship}:`;
    for (const sight of SIGHTS) {
      await work(LOOK_MS, task.signal);
      yield ` ${sight};`;
    }
    return " she is in.";
  },
});

export { pilots as agent };
