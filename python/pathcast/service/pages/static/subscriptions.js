// Subscriptions of one topic: put, pause, remove, try the receiver; which are hot, slow, or never matched.
import { act, call, code, fillTopics, find, h, newest, notice, paged, start, state, table, unboundPrefix } from "./shell.js";

const topic = find("topic");
const base = () => `v1/topics/${encodeURIComponent(topic.value)}`;
const address = (list, id) => `${list}/${encodeURIComponent(id)}`;

/** What can be done with a row; it has its own address, for another topic may be chosen while it is still shown. */
function actions(row) {
  const button = (name, work, kind = "") => h("button", { type: "button", className: `quiet ${kind}`, "aria-label": `${name} ${row.id}`, onclick: act(work) }, name);
  return h(
    "span",
    {},
    row.delivery ? button("Test", async () => {
      const answer = await call("POST", `${row.address}/test`);
      notice(answer.delivered ? `Delivered${answer.status ? `, answered ${answer.status}` : ""}.` : `Not delivered: ${answer.reason}`, answer.delivered);
    }) : null,
    button(row.enabled ? "Pause" : "Go on", async () => { await call("PATCH", row.address, { enabled: !row.enabled }); await show(); }),
    button("Remove", async () => {
      if (!confirm(`Remove ${row.id} and what waits for it?`)) return;
      await call("DELETE", row.address);
      await show();
    }, "danger"),
  );
}

const list = paged(
  find("list"),
  find("more"),
  async (cursor) => {
    const within = `${base()}/subscriptions`;
    const answer = await call("GET", `${within}?limit=50&cursor=${encodeURIComponent(cursor)}`);
    return [answer.subscriptions.map((row) => ({ ...row, address: address(within, row.id) })), answer.cursor];
  },
  (rows) => table("Subscriptions", [
    ["Id", (row) => code(row.id)],
    ["Expression", (row) => code(row.xpath), "long"],
    ["Delivery", (row) => row.delivery?.webhook?.url ?? (row.delivery?.kafka ? `Kafka: ${row.delivery.kafka.topic}` : "pull, events"), "long"],
    ["State", (row) => (row.enabled ? state("enabled", true) : state("paused"))],
    ["", actions, "actions"],
  ], rows),
);

const latest = newest();
async function activity() {
  const answer = await latest(call("GET", `${base()}/activity?limit=5`));
  if (!answer) return;
  const { hot, slow, never } = answer;
  const tile = (title, items) => h("div", { className: "tile" }, h("span", {}, title), items.length ? items.map((item) => h("div", { className: "mono" }, item)) : h("div", { className: "empty" }, "none"));
  find("activity").replaceChildren(
    tile("Hot: most deliveries lately", hot.map((each) => `${each.subscription} · ${each.deliveries}`)),
    tile("Slow or failing receivers", slow.map((each) => `${each.subscription} · ${((each.seconds ?? 0) * 1000).toFixed(0)} ms · ${each.attempts} tries`)),
    tile("Never matched", never),
  );
}

async function show() {
  await list();
  await activity();
}

/** What `p=URI` means, each between spaces: a prefix, or none, and its namespace. */
function bindings(text) {
  const pairs = text.split(/\s+/).filter(Boolean).map((each) => /^([^=]*)=(.+)$/.exec(each) ?? [each]);
  const [wrong] = pairs.find((pair) => pair.length < 3) ?? [];
  if (wrong) throw new Error(`Namespaces: ${wrong} is not a prefix, = and a namespace.`);
  return Object.fromEntries(pairs.map(([, prefix, uri]) => [prefix, uri]));
}

/** Why a subscription was refused, in the words of this page. */
function refusal(error) {
  const { column } = error.problem ?? {};
  const unbound = error.problem ? unboundPrefix(error.problem) : "";
  const why = unbound ? `no namespace is bound to the prefix ${unbound}. Type ${unbound}=URI under Namespaces.` : error.message;
  return column ? new Error(`Column ${column}: ${why}`) : error;
}

topic.addEventListener("change", act(show));
find("add").addEventListener("submit", act(async (event) => {
  const form = event.target;
  const body = { xpath: form.xpath.value };
  const namespaces = bindings(form.namespaces.value);
  if (Object.keys(namespaces).length) body.namespaces = namespaces;
  if (form.url.value) body.delivery = { webhook: { url: form.url.value } };
  let answer;
  try {
    answer = await call("PUT", address(`${base()}/subscriptions`, form.elements.id.value), body);
  } catch (error) {
    throw refusal(error);
  }
  const secret = answer.delivery?.webhook?.secret;
  form.reset();
  await show();
  notice(secret ? `Put. The secret of the webhook, shown this once: ${secret}` : "Put. The next document sees it.", true);
}));

start(async () => { if (await fillTopics(topic)) await show(); });
