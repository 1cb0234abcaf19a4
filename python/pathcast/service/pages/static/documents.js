// Documents: publish one, see the newest, who got each and why.
import { act, call, code, fillTopics, find, h, newest, notice, paged, start, state, table, when } from "./shell.js";

const topic = find("topic");

const latest = newest();
async function look(id) {
  const both = await latest(Promise.all([call("GET", `v1/documents/${id}`), call("GET", `v1/documents/${id}/body`)]));
  if (!both) return;
  const [answer, body] = both;
  const rows = table("Deliveries", [
    ["Subscription", (row) => code(row.subscription)],
    ["Channel", (row) => row.channel],
    ["State", (row) => state(row.state ?? "removed", row.state === "dead" ? false : row.state === "pending" || row.state === "waiting" ? undefined : true)],
    ["Why", (row) => (row.why ? h("details", {}, h("summary", {}, code(row.xpath)), h("pre", {}, row.why.text)) : code(row.xpath ?? "")), "long"],
  ], answer.deliveries);
  find("one-title").textContent = answer.document;
  find("detail").replaceChildren(
    h("p", {}, `Topic ${answer.topic}, ${answer.size} bytes, matched ${answer.matched}, `, when(answer.received)),
    h("div", { className: "scroll" }, rows),
    h("details", {}, h("summary", {}, "The document"), h("pre", {}, body)),
  );
  find("one").hidden = false;
  find("one").scrollIntoView({ block: "nearest" });
}

const list = paged(
  find("list"),
  find("more"),
  async (cursor) => {
    const answer = await call("GET", `v1/documents?limit=50&cursor=${cursor}`);
    return [answer.documents, answer.cursor];
  },
  (rows) => table("Documents", [
    ["Document", (row) => h("button", { type: "button", className: "quiet mono", onclick: act(() => look(row.document)) }, row.document)],
    ["Topic", (row) => row.topic],
    ["Received", (row) => when(row.received)],
    ["Bytes", (row) => String(row.size)],
    ["Matched", (row) => String(row.matched)],
  ], rows),
);

find("publish").addEventListener("submit", act(async (event) => {
  const form = event.target;
  const path = `v1/topics/${encodeURIComponent(topic.value)}/documents`;
  try {
    const answer = await call("POST", path, form.elements.document.value, { "Content-Type": "application/xml" });
    await list();
    await look(answer.document);
    notice(`Published as ${answer.document}; matched ${answer.matched}.`, true);
  } catch (error) {
    const { line, column } = error.problem ?? {};
    throw line ? new Error(`Line ${line}, column ${column}: ${error.message}. It is kept as a dead letter.`) : error;
  }
}));

start(async () => {
  await fillTopics(topic);
  await list();
  const wanted = new URLSearchParams(location.search).get("document");
  if (wanted) await look(wanted);
});
