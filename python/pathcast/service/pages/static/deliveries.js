// Webhook calls and dead letters: look, and try again.
import { act, call, code, find, h, notice, paged, start, state, table, when } from "./shell.js";

const letters = paged(
  find("dead"),
  find("dead-more"),
  async (cursor) => {
    const answer = await call("GET", `v1/dead-letters?limit=50&cursor=${cursor}`);
    return [answer.dead_letters, answer.cursor];
  },
  (rows) => table("Dead letters", [
    ["Kind", (row) => row.kind],
    ["Topic", (row) => row.topic],
    ["Reason", (row) => `${row.line ? `line ${row.line}, column ${row.column}: ` : ""}${row.reason}`, "long"],
    ["Of", (row) => (row.document ? h("span", {}, h("a", { href: `documents?document=${row.document}` }, row.document), ` to ${row.subscription}`) : `${row.size} bytes`), "long"],
    ["When", (row) => when(row.created)],
    ["", (row) => h("span", {}, row.kind === "document" ? h("button", { type: "button", className: "quiet", onclick: act(() => look(row)) }, "Look") : null, h("button", { type: "button", className: "quiet", onclick: act(() => redrive(row)) }, "Redrive")), "actions"],
  ], rows),
);

async function look(row) {
  const body = await call("GET", `v1/dead-letters/${row.id}/body`);
  const dialog = h("dialog", { "aria-label": "The document that was refused" }, h("pre", {}, body), h("form", { method: "dialog" }, h("button", { className: "main" }, "Close")));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

async function redrive(row) {
  try {
    await call("POST", `v1/dead-letters/${row.id}:redrive`);
    notice(row.kind === "document" ? "Published." : "The delivery begins again.", true);
  } finally {
    await letters();
  }
}

const calls = paged(
  find("calls"),
  find("calls-more"),
  async (cursor) => {
    const wanted = find("filter").state.value;
    const answer = await call("GET", `v1/deliveries?limit=50&cursor=${cursor}${wanted ? `&state=${wanted}` : ""}`);
    return [answer.deliveries, answer.cursor];
  },
  (rows) => table("Webhook calls", [
    ["State", (row) => state(row.state, { delivered: true, dead: false }[row.state])],
    ["Topic", (row) => row.topic],
    ["Subscription", (row) => code(row.subscription)],
    ["Document", (row) => h("a", { href: `documents?document=${row.document}` }, row.document), "long"],
    ["Tries", (row) => String(row.attempts)],
    ["Answer", (row) => row.reason ?? row.status ?? "", "long"],
    ["Next", (row) => when(row.due)],
  ], rows),
);

find("filter").addEventListener("change", act(calls));
start(async () => { await letters(); await calls(); });
