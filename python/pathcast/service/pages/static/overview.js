// The overview: figures of the last minutes, drawn as they come, and the topics.
import { act, call, find, h, notice, start, table, when } from "./shell.js";
import { uPlot } from "./vendor/vendor.js";

const KEPT = 300; // seconds
const samples = [];
const number = (value, digits = 0) => value.toLocaleString(undefined, { maximumFractionDigits: digits });
const bytes = (value) => (value >= 1e6 ? `${number(value / 1e6, 1)} MB` : `${number(value / 1e3, value < 1e4 ? 1 : 0)} KB`);
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString(undefined, { hour12: false });
const milliseconds = (value) => `${number(value * 1000, value < 0.01 ? 2 : 0)} ms`;

const TILES = [
  ["documents a second", (s) => number(s.documents)],
  ["deliveries a second", (s) => number(s.deliveries)],
  ["publishing, 99 of 100", (s) => milliseconds(s.publish_p99)],
  ["pending deliveries", (s) => number(s.pending)],
  ["subscriptions", (s) => number(s.subscriptions)],
  ["index", (s) => bytes(s.index_bytes)],
];
const CHARTS = [
  ["Rates, a second", ["documents", "deliveries"], (value) => number(value, 1), 1],
  ["Time to answer", ["publish_p50", "publish_p99", "match_p99"], milliseconds, 1e-3],
  ["Queue and pending", ["queue", "pending"], (value) => number(value, 1), 1],
  ["Index size", ["index_bytes"], bytes, 1e3],
]; // the last is the least height, so that no number stands at two lines
const NAMES = { publish_p50: "publish, half", publish_p99: "publish, 99 of 100", match_p99: "match, 99 of 100", index_bytes: "bytes" };
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
let drawn = [];

function draw() {
  for (const { plot } of drawn) plot.destroy();
  find("charts").replaceChildren();
  const strokes = [colour("--accent"), colour("--bad"), colour("--good")];
  const places = CHARTS.map(([title]) => h("section", { className: "panel", "aria-label": title }, h("h2", {}, title)));
  find("charts").append(...places); // all of them first: how wide one is depends on the others
  drawn = CHARTS.map(([, fields, show, least], at) => {
    const place = places[at];
    const width = Math.max(200, place.clientWidth - 30);
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const plot = new uPlot(
      {
        width,
        height: 190,
        cursor: { y: false },
        legend: { live: false },
        scales: { y: { range: (_, low, high) => [0, Math.max(high * 1.1, least)] } },
        axes: [{ ...axis, space: 80, values: (_, ticks) => ticks.map(clock) }, { ...axis, size: 64, values: (_, ticks) => ticks.map(show) }],
        series: [{}, ...fields.map((name, at) => ({ label: NAMES[name] ?? name, stroke: strokes[at], width: 2, points: { show: false }, value: (_, value) => (value === null ? "" : show(value)) }))],
      },
      data(fields),
      place,
    );
    return { plot, fields, place };
  });
}

const data = (fields) => [samples.map((s) => s.time), ...fields.map((name) => samples.map((s) => s[name]))];

async function follow() {
  const last = samples.at(-1)?.time ?? 0;
  const answer = await call("GET", `v1/overview?since=${last}`);
  samples.push(...answer.samples);
  samples.splice(0, Math.max(0, samples.length - KEPT));
  const now = samples.at(-1);
  if (now) find("tiles").replaceChildren(...TILES.map(([name, show]) => h("div", { className: "tile" }, h("b", {}, show(now)), h("span", {}, name))));
  for (const { plot, fields } of drawn) plot.setData(data(fields));
}

async function topics() {
  const answer = await call("GET", "v1/topics?limit=1000");
  const link = (row) => h("a", { href: `subscriptions?topic=${encodeURIComponent(row.topic)}` }, row.topic);
  find("topics").replaceChildren(
    table("Topics", [["Topic", link], ["Subscriptions", (row) => number(row.subscriptions)], ["Created", (row) => when(row.created)]], answer.topics),
  );
}

find("new-topic").addEventListener("submit", act(async (event) => {
  const form = event.target;
  await call("PUT", `v1/topics/${encodeURIComponent(form.topic.value)}`, {});
  form.reset();
  await topics();
}));

start(async () => {
  draw();
  await topics();
  await follow();
  setInterval(() => { if (!document.hidden) follow().catch((error) => notice(error.message)); }, 1000);
});
addEventListener("themechange", draw);
addEventListener("resize", () => { for (const { plot, place } of drawn) plot.setSize({ width: Math.max(200, place.clientWidth - 30), height: 190 }); });
