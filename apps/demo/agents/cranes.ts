/** Demo agent with a long-running job: reports progress and can be cancelled. */
import { agent } from "../../../src/index.js";
import { numberBefore, onBehalfOf, shipIn, work } from "./harbour-requests.js";

const LIFT_MS = 250;
const USUAL_CONTAINERS = 4;
const MOST_CONTAINERS = 400;

const cranes = agent({
  name: "cranes",
  description: "Unloads ships, container by container",
  skills: [
    {
      id: "unload",
      name: "Unload a ship",
      description: "A job that can be looked up and cancelled",
      tags: ["jobs", "cranes"],
      examples: ['Unload "Aurora", 12 containers'],
    },
  ],
  async *handle(message, task) {
    const ship = shipIn(message.text) ?? "the ship";
    const containers = Math.min(numberBefore("container", message.text) ?? USUAL_CONTAINERS, MOST_CONTAINERS);
    const metres = numberBefore("m(?:etres)?\\b", message.text);
    if (metres !== undefined) {
      yield task.working(`asking where ${ship} lies`);
      yield task.working(await cranes.ask("berths", `Where does "${ship}" lie, ${metres} m?`, onBehalfOf(message, task)));
    }
    for (let done = 1; done <= containers; done++) {
      await work(LIFT_MS, task.signal);
      yield task.working(`${done} of ${containers} containers`);
    }
    return `${containers} containers of ${ship} are on the quay.`;
  },
});

export { cranes as agent };
