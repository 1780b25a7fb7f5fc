import type { JsonObject } from "../../../envelope/index.js";
import { ask } from "../../ask.js";
import { demand, demandArray, demandObject, show, skip } from "../../check.js";
import { get, OPENAPI, type Probe, type RunRequirement, SDK } from "./probe.js";
import { demandManifest, demandRefusal, demandTimestamp, isAbsent } from "./shapes.js";

async function agentsIn(probe: Probe, query = ""): Promise<readonly JsonObject[]> {
  const got = await get(probe, `/agents${query}`);
  demand(got.status === 200, `GET /agents${query} answers ${got.status}`);
  const agents = demandArray(demandObject(got.json, "the answer")["agents"], "agents");
  return agents.map((agent, index) => demandManifest(agent, `agent ${index}`));
}

async function agentIn(probe: Probe, name = probe.agent): Promise<JsonObject> {
  const got = await get(probe, `/agents/${encodeURIComponent(name)}`);
  demand(got.status === 200, `GET /agents/{name} answers ${got.status}`);
  return demandManifest(got.json, "the manifest");
}

/** An optional member of the metadata. */
async function inMetadata(probe: Probe, member: string): Promise<unknown> {
  const { metadata } = await agentIn(probe);
  const value = isAbsent(metadata) ? undefined : demandObject(metadata, "metadata")[member];
  return isAbsent(value) ? skip(`the manifest says nothing about its ${member.replaceAll("_", " ")}`) : value;
}

/** Availability and the list of agents. */
export const manifestRequirements: readonly RunRequirement[] = [
  {
    key: "ping:answers",
    capability: "connectivity",
    source: `${OPENAPI} GET /ping`,
    behaviour: "A ping is answered 200 with an empty JSON object.",
    async run(probe) {
      const got = await get(probe, "/ping");
      demand(got.status === 200, `answered ${got.status}`);
      demand(Object.keys(demandObject(got.json, "the answer")).length === 0, `the answer is ${show(got.json)}`);
    },
  },
  {
    key: "ping:media-type",
    capability: "connectivity",
    source: `${OPENAPI} GET /ping`,
    behaviour: "A response is JSON by its content type.",
    async run(probe) {
      const type = (await get(probe, "/ping")).headers["content-type"];
      demand(/^application\/json\b/.test(type ?? ""), `content-type is ${show(type)}`);
    },
  },
  {
    key: "agents:list",
    capability: "connectivity",
    source: `${OPENAPI} GET /agents`,
    behaviour: "The list of agents is an object with an array of whole manifests.",
    async run(probe) {
      demand((await agentsIn(probe)).length > 0, "no agent is listed");
    },
  },
  {
    key: "agents:names-differ",
    capability: "connectivity",
    source: `${OPENAPI} AgentName`,
    behaviour: "No two agents of a server have the same name.",
    async run(probe) {
      const names = (await agentsIn(probe)).map(({ name }) => name);
      demand(new Set(names).size === names.length, `names: ${show(names)}`);
    },
  },
  {
    key: "agents:name-form",
    capability: "connectivity",
    level: "should",
    source: `${OPENAPI} AgentName`,
    behaviour: "An agent's name is a DNS label: lower-case letters, digits and hyphens, at most 63.",
    async run(probe) {
      const names = (await agentsIn(probe)).map(({ name }) => String(name));
      const strange = names.filter((name) => !/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name));
      demand(strange.length === 0, `names: ${show(strange)}`);
    },
  },
  {
    key: "agents:description",
    capability: "connectivity",
    level: "should",
    source: `${OPENAPI} AgentManifest.description`,
    behaviour: "Every manifest has a description.",
    async run(probe) {
      const silent = (await agentsIn(probe)).filter(({ description }) => typeof description !== "string" || description === "");
      demand(silent.length === 0, `without one: ${show(silent.map(({ name }) => name))}`);
    },
  },
  {
    key: "agents:content-types",
    capability: "connectivity",
    source: `${OPENAPI} AgentManifest.input_content_types`,
    behaviour: "Content types are media types; wildcards are allowed.",
    async run(probe) {
      const types = (await agentsIn(probe)).flatMap((each) => [each["input_content_types"], each["output_content_types"]].flat());
      const strange = types.filter((type) => !/^(\*|[\w.+-]+)\/(\*|[\w.+-]+)( *;.*)?$/.test(String(type)));
      demand(strange.length === 0, `types: ${show(strange)}`);
    },
  },
  {
    key: "agents:read-one",
    capability: "connectivity",
    source: `${OPENAPI} GET /agents/{name}`,
    behaviour: "Every listed agent can be read by its name, with the same manifest.",
    async run(probe) {
      for (const listed of await agentsIn(probe)) {
        const read = await agentIn(probe, String(listed["name"]));
        demand(read["name"] === listed["name"], `${show(listed["name"])} is ${show(read["name"])} when read alone`);
        demand(read["description"] === listed["description"], `${show(listed["name"])} has two different manifests`);
      }
    },
  },
  {
    key: "agents:unknown",
    capability: "connectivity",
    source: `${OPENAPI} GET /agents/{name} 404`,
    behaviour: "An unknown agent is not found.",
    async run(probe) {
      demandRefusal(await get(probe, `/agents/none-${probe.subject.newId()}`), [404], "not_found");
    },
  },
  {
    key: "agents:limit",
    capability: "connectivity",
    level: "should",
    source: `${OPENAPI} GET /agents, limit`,
    behaviour: "The limit is respected.",
    async run(probe) {
      if ((await agentsIn(probe)).length < 2) skip("there is only one agent");
      const { length } = await agentsIn(probe, "?limit=1");
      demand(length === 1, `a list of at most one has ${length}`);
    },
  },
  {
    key: "agents:offset",
    capability: "connectivity",
    level: "should",
    source: `${OPENAPI} GET /agents, offset`,
    behaviour: "An offset after the last agent gives an empty list.",
    async run(probe) {
      const { length } = await agentsIn(probe, "?offset=1000000");
      demand(length === 0, `${length} agents follow the millionth`);
    },
  },
  {
    key: "agents:limit-checked",
    capability: "edge-cases",
    level: "should",
    source: `${OPENAPI} GET /agents, limit 1..1000`,
    behaviour: "A limit that is not a number from 1 to 1000 is rejected.",
    async run(probe) {
      for (const limit of ["0", "1001", "-1", "many"])
        demandRefusal(await get(probe, `/agents?limit=${limit}`), [400, 422], "invalid_input");
    },
  },
  {
    key: "agents:tags",
    capability: "connectivity",
    source: `${SDK} models/models.py Metadata.tags`,
    behaviour: "Tags are strings.",
    async run(probe) {
      const tags = demandArray(await inMetadata(probe, "tags"), "tags");
      demand(
        tags.every((tag) => typeof tag === "string"),
        `tags: ${show(tags)}`,
      );
    },
  },
  {
    key: "agents:capabilities",
    capability: "connectivity",
    source: `${SDK} models/models.py Capability`,
    behaviour: "A capability has a name and a description.",
    async run(probe) {
      for (const capability of demandArray(await inMetadata(probe, "capabilities"), "capabilities")) {
        const { name, description } = demandObject(capability, "a capability");
        demand(typeof name === "string" && typeof description === "string", `a capability is ${show(capability)}`);
      }
    },
  },
  {
    key: "agents:author",
    capability: "connectivity",
    source: `${SDK} models/models.py Author`,
    behaviour: "An author has a name.",
    async run(probe) {
      const { name } = demandObject(await inMetadata(probe, "author"), "author");
      demand(typeof name === "string", `the name is ${show(name)}`);
    },
  },
  {
    key: "agents:links",
    capability: "connectivity",
    source: `${SDK} models/models.py Link`,
    behaviour: "A link has one of four types and an absolute address.",
    async run(probe) {
      for (const link of demandArray(await inMetadata(probe, "links"), "links")) {
        const { type, url } = demandObject(link, "a link");
        demand(/^(source-code|container-image|homepage|documentation)$/.test(String(type)), `the type is ${show(type)}`);
        demand(URL.canParse(String(url)), `the address is ${show(url)}`);
      }
    },
  },
  {
    key: "agents:times",
    capability: "connectivity",
    source: `${SDK} models/models.ts Metadata.created_at`,
    behaviour: "The times in a manifest are UTC and end in Z.",
    async run(probe) {
      demandTimestamp(await inMetadata(probe, "created_at"), "created_at");
    },
  },
  {
    key: "agents:public",
    capability: "security",
    level: "should",
    source: `${OPENAPI} GET /agents`,
    behaviour: "Manifests need no credentials: clients discover agents with them.",
    async run({ subject }) {
      const { status } = await ask(subject, { method: "GET", url: `${subject.url}/agents`, anonymous: true });
      demand(status === 200, `answered ${status}`);
    },
  },
];
