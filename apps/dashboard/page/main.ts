import type { CapturedMessageSummary } from "../../../src/public/inspect.js";
import type { NetworkState } from "../console.js";
import { api, type Session, takeToken } from "./api.js";
import { DecisionsView } from "./decisions-view.js";
import { attribute, byId, fill, h, setText } from "./dom.js";
import { EventsView } from "./events-view.js";
import { count, duration, rate } from "./format.js";
import { HealthView } from "./health-view.js";
import { InspectorView } from "./inspector-view.js";
import { type Key, listenToKeys } from "./keyboard.js";
import { LiveFeed } from "./live-feed.js";
import { MapView } from "./map-view.js";
import { EVERYTHING } from "./message-filter.js";
import { MESSAGES_KEPT, MessageStore } from "./message-store.js";
import { MessagesView } from "./messages-view.js";
import { NodeView } from "./node-view.js";
import { hueOf } from "./protocol-hues.js";
import { RateMeter } from "./rate-meter.js";
import { SendView } from "./send-view.js";
import { Tabs } from "./tabs.js";
import { TasksView } from "./tasks-view.js";
import { themeSwitch } from "./theme.js";

/** Page size when loading messages. */
const PAGE_OF_MESSAGES = 1_000;
/** Redraw interval for the uptime and decaying rates. */
const TICK_MS = 1_000;

let session: Session = { holdsToken: false, maySend: false, mayAct: false };
let state: NetworkState | undefined;
let chosenNode = "";
let frameRequested = false;
const store = new MessageStore();
const meter = new RateMeter();
const connections = new Map<string, boolean>();

const inspector = new InspectorView({
  closed: () => {
    messages.mark("");
    if (tabs.current === "messages") messages.focusList();
  },
});
const openTrace = (traceId: string): void => void inspector.openTrace(traceId);
const messages = new MessagesView({
  store,
  chosen: ({ id }) => {
    messages.mark(id);
    void inspector.open(id);
  },
});
const map = new MapView({ chosen: chooseNode });
const node = new NodeView({
  session: () => session,
  showMessages: ({ id, kind }) => {
    tabs.show("messages");
    messages.show({ ...EVERYTHING, agent: kind === "gateway" ? "" : id });
  },
  sendTo: (each) => {
    tabs.show("send");
    send.prepare(each);
  },
  close: () => closeNode(),
  redraw: () => redraw(),
});
const events = new EventsView([byId("map-happenings"), byId("happenings")], openTrace);
const tasks = new TasksView();
const decisions = new DecisionsView();
const health = new HealthView();
const send = new SendView({ openTrace });
const theme = themeSwitch(byId("theme"));
const tabs = new Tabs(byId("tabs"), (name) => {
  tasks.watch(name === "tasks");
  redraw();
});

function chooseNode(id: string): void {
  chosenNode = id;
  redraw();
}

function closeNode(): void {
  const before = chosenNode;
  chooseNode("");
  map.focusNode(before);
}

/** Schedules at most one redraw per frame. */
function redraw(): void {
  if (frameRequested) return;
  frameRequested = true;
  requestAnimationFrame(() => {
    frameRequested = false;
    draw();
  });
}

function draw(): void {
  if (tabs.current === "messages") messages.draw();
  if (state === undefined) return;
  drawHeader(state);
  events.show(state.happenings);
  if (tabs.current === "map") {
    map.show(state, chosenNode);
    node.show(state, chosenNode);
  }
  if (tabs.current === "decisions") decisions.show(state.decisions);
  if (tabs.current === "health") health.show(state);
  if (tabs.current === "send") send.show(state, session);
}

function drawHeader({ title, startedAt, nodes, links }: NetworkState): void {
  setText(byId("network-title"), title);
  document.title = `${title} · Koine`;
  const total = links.reduce((sum, link) => sum + link.messages, 0);
  const failed = links.reduce((sum, link) => sum + link.failures, 0);
  const agents = nodes.filter((each) => each.kind === "agent");
  const up = agents.filter((each) => each.health === "up").length;
  const { perSecond } = meter.take("all", total, failed, performance.now());
  const facts = [
    [`${up}/${agents.length}`, "agents up"],
    [count(total), "messages"],
    [rate(perSecond) || "0/s", "now"],
    [count(failed), "failed"],
    [duration(Math.max(0, Date.now() - startedAt)), "running"],
  ] as const;
  fill(byId("summary"), ...facts.map(([value, name]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

/** Feeds are closed while the page is hidden, and resume afterwards. */
const stateFeed = new LiveFeed({
  path: "state/feed",
  event: "state",
  take: (data) => {
    state = { ...state, ...(JSON.parse(data) as NetworkState) }; // our own route; members that did not change are left out
    for (const { speaks } of state.nodes) for (const name of speaks) hueOf(name);
    redraw();
  },
  connected: (is) => {
    connected("state", is);
    if (is) void loadSession();
  },
  refused,
});
const messageFeed = new LiveFeed({
  path: "feed",
  event: "message",
  take: (data) => {
    store.put(JSON.parse(data) as CapturedMessageSummary); // our own route
    redraw();
  },
  connected: (is) => {
    connected("messages", is);
    if (is) void loadMessages();
  },
  refused,
});

/** Without the token nothing is shown; the page itself holds no data. */
function refused(): void {
  byId("locked").hidden = false;
  attribute(byId("live"), "data-live", "false");
  setText(byId("live"), "locked");
}

function connected(name: string, is: boolean): void {
  connections.set(name, is);
  const lost = [...connections.values()].includes(false);
  byId("banner").hidden = !lost;
  attribute(byId("live"), "data-live", String(!lost));
  setText(byId("live"), lost ? "offline" : "live");
}

async function loadSession(): Promise<void> {
  try {
    session = await api.session();
  } catch {
    return; // the banner reports a lost connection
  }
  byId("read-only").hidden = session.mayAct || session.maySend;
  redraw();
}

/** Loads the messages captured before the page was opened, newest first. */
async function loadMessages(): Promise<void> {
  let before: number | undefined;
  try {
    for (let loaded = 0; loaded < MESSAGES_KEPT; loaded += PAGE_OF_MESSAGES) {
      const page = await api.messages(PAGE_OF_MESSAGES, before);
      const fresh = page.messages.filter((each) => (store.get(each.id)?.seq ?? 0) < each.seq);
      for (const each of page.messages) store.put(each);
      redraw();
      if (page.messages.length === 0 || fresh.length === 0) return;
      before = Math.min(...page.messages.map((each) => each.seq));
    }
  } catch {
    // The feed reconnects and reloads.
  }
}

function openFeeds(): void {
  if (document.hidden) return;
  stateFeed.open();
  messageFeed.open();
}

const keysDialog = byId("keys") as HTMLDialogElement; // declared in index.html

/** Closes the innermost open element. */
function closeInnermost(): void {
  if (keysDialog.open) keysDialog.close();
  else if (inspector.isOpen) inspector.close();
  else if (chosenNode !== "") closeNode();
  else if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

const keys: readonly Key[] = [
  ...["Agents", "Messages", "Tasks", "Decisions", "Health", "Send"].map((name, index) => ({
    key: String(index + 1),
    label: name,
    run: () => tabs.showNth(index + 1),
  })),
  {
    key: "/",
    label: "Filter messages",
    run: () => {
      tabs.show("messages");
      messages.focusFilter();
    },
  },
  { key: "p", label: "Pause or resume messages", run: () => messages.togglePause() },
  { key: "t", label: "Switch theme: system, light, dark", run: () => theme.next() },
  { key: "?", label: "Keyboard shortcuts", run: () => keysDialog.showModal() },
  { key: "Escape", label: "Close the open dialog", run: closeInnermost },
];

function start(): void {
  takeToken();
  tabs.start();
  listenToKeys(keys);
  fill(byId("keys-list"), ...keys.flatMap(({ key, label }) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, label)]));
  byId("show-keys").addEventListener("click", () => keysDialog.showModal());
  byId("keys-close").addEventListener("click", () => keysDialog.close());
  byId("reconnect").addEventListener("click", openFeeds);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return openFeeds();
    stateFeed.close();
    messageFeed.close();
  });
  setInterval(redraw, TICK_MS);
  openFeeds();
}

start();
