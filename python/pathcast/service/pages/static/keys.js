// Keys: make, rotate, revoke. A secret is shown once.
import { act, call, code, find, h, notice, paged, start, table, when } from "./shell.js";

find("scopes").append(...["publish", "subscribe", "read", "admin"].map((scope) => h("label", { className: "inline" }, h("input", { type: "checkbox", name: "scope", value: scope, checked: scope !== "admin" }), scope)));

function actions(row) {
  if (row.expires && new Date(row.expires) <= new Date()) return "";
  const button = (name, work, kind = "") => h("button", { type: "button", className: `quiet ${kind}`, "aria-label": `${name} ${row.id}`, onclick: act(work) }, name);
  return h(
    "span",
    {},
    button("Rotate", async () => {
      const made = await call("POST", `v1/keys/${row.id}/rotate`, { grace: 3600 });
      await list();
      notice(`The new secret, shown this once; the old one counts for an hour: ${made.key}`, true);
    }),
    button("Revoke", async () => {
      if (!confirm(`Revoke ${row.id} now?`)) return;
      await call("DELETE", `v1/keys/${row.id}`);
      await list();
    }, "danger"),
  );
}

const list = paged(
  find("list"),
  find("more"),
  async (cursor) => {
    const answer = await call("GET", `v1/keys?limit=100${cursor ? `&cursor=${cursor}` : ""}`);
    return [answer.keys, answer.cursor];
  },
  (rows) => table("Keys", [
    ["Id", (row) => code(row.id)],
    ["Tenant", (row) => row.tenant],
    ["Scopes", (row) => row.scopes.join(", ")],
    ["Topics", (row) => row.topics.join(", ")],
    ["Quota", (row) => Object.entries(row.quota).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value}`).join(", "), "long"],
    ["Made", (row) => when(row.created)],
    ["Ends", (row) => (row.expires?.startsWith("1970") ? "revoked" : when(row.expires))],
    ["", actions, "actions"],
  ], rows),
);

find("make").addEventListener("submit", act(async (event) => {
  const form = event.target;
  const scopes = [...form.querySelectorAll("[name=scope]:checked")].map((box) => box.value);
  const topics = form.topics.value.split(",").map((each) => each.trim()).filter(Boolean);
  const made = await call("POST", "v1/keys", { tenant: form.tenant.value, scopes, topics });
  await list();
  notice(`The key, shown this once: ${made.key}`, true);
}));

start(list);
