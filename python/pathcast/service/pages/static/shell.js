// What every page shares: the head, the theme, the key, calls to the API, small pieces of DOM.

const PAGES = [
  ["./", "Overview"],
  ["playground", "Playground"],
  ["subscriptions", "Subscriptions"],
  ["documents", "Documents"],
  ["deliveries", "Deliveries"],
  ["keys", "Keys"],
  ["docs", "API"],
];

/** An element with properties, attributes and children; text is always text. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const find = (id) => document.getElementById(id);

/** Say something at the top of the page. */
export function notice(text, good = false) {
  const place = find("notice");
  place.textContent = text;
  place.className = `notice ${good ? "good" : "bad"}`;
}

export class ApiError extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || "The call failed.");
    this.problem = problem;
  }
}

/** The prefix that an expression uses and nothing binds, if that is the problem; a page says itself where it is bound. */
export const unboundPrefix = (problem) => /^no namespace is bound to the prefix '([^']+)'/.exec(problem.detail)?.[1] ?? "";

/** Call the API; asks for a key when it is needed. */
export async function call(method, path, body, headers = {}) {
  const key = sessionStorage.getItem("key");
  const sent = { ...headers };
  if (key) sent.Authorization = `Bearer ${key}`;
  let content = body;
  if (body !== undefined && typeof body !== "string") {
    content = JSON.stringify(body);
    sent["Content-Type"] = "application/json";
  }
  const response = await fetch(path, { method, headers: sent, body: content, redirect: "error" });
  if (response.status === 401 && (await askForKey(Boolean(key)))) return call(method, path, body, headers);
  const type = response.headers.get("content-type") || "";
  const answer = type.includes("json") && !type.includes("ndjson") ? await response.json() : await response.text();
  if (!response.ok) throw new ApiError(typeof answer === "string" ? { detail: answer } : answer);
  return answer;
}

let asking = null;

function askForKey(wrong) {
  asking ??= new Promise((resolve) => {
    const input = h("input", { type: "password", name: "key", required: true, autocomplete: "off" });
    const dialog = h(
      "dialog",
      { "aria-labelledby": "key-title" },
      h(
        "form",
        { method: "dialog" },
        h("h2", { id: "key-title" }, "A key is needed"),
        h("p", {}, wrong ? "The key is unknown, revoked or expired." : "The server printed it when it first started, unless PATHCAST_ADMIN_KEY gave it."),
        h("label", {}, "Key", input),
        h("p", { className: "row" }, h("button", { className: "main", value: "use" }, "Use"), h("button", { value: "no", formNoValidate: true }, "Not now")),
      ),
    );
    dialog.addEventListener("close", () => {
      const used = dialog.returnValue === "use" && input.value;
      if (used) sessionStorage.setItem("key", input.value.trim());
      dialog.remove();
      asking = null;
      resolve(Boolean(used));
    });
    document.body.append(dialog);
    dialog.showModal();
  });
  return asking;
}

/** Run something that a user asked for, and say what went wrong. */
export function act(work) {
  return async (event) => {
    event?.preventDefault?.();
    try {
      notice("");
      await work(event);
    } catch (error) {
      notice(error.message);
    }
  };
}

/** Await answers, of which only the one to the latest question counts; the others come as nothing. */
export function newest() {
  let latest = 0;
  return async (answer) => {
    const turn = ++latest;
    try {
      const given = await answer;
      return turn === latest ? given : undefined;
    } catch (error) {
      if (turn === latest) throw error;
    }
  };
}

/** Load what a page first shows. Before that nothing can be pressed: a form must not act on a choice that is not there yet. */
export async function start(work) {
  await act(work)();
  find("content").inert = false;
}

/** A table of rows; a column is a title, how to show a row, and perhaps a class.
 *  On a phone each row is a card, so cells know their titles, and roles say what they are all the same. */
export function table(label, columns, rows) {
  if (!rows.length) return h("p", { className: "empty" }, "Nothing here.");
  return h(
    "table",
    { "aria-label": label, role: "table" },
    h("thead", { role: "rowgroup" }, h("tr", { role: "row" }, columns.map(([title]) => h("th", { scope: "col", role: "columnheader" }, title)))),
    h("tbody", { role: "rowgroup" }, rows.map((row) => h("tr", { role: "row" }, columns.map(([title, show, kind]) => h("td", { className: kind || "", role: "cell", "data-title": title }, show(row) ?? ""))))),
  );
}

/** A list that comes in pages: `load` takes a cursor and gives rows and the next cursor. */
export function paged(place, more, load, show) {
  let rows = [];
  const latest = newest();
  async function next(cursor) {
    if (!cursor) more.replaceChildren(); // what followed the list before does not follow the one that comes
    const answer = await latest(load(cursor));
    if (!answer) return;
    const [found, after] = answer;
    rows = cursor ? rows.concat(found) : found;
    place.replaceChildren(show(rows));
    more.replaceChildren(...(after ? [h("button", { type: "button", onclick: act(() => next(after)) }, "More")] : []));
  }
  return () => next("");
}

export const state = (text, good) => h("span", { className: `state ${good === undefined ? "" : good ? "good" : "bad"}` }, text);
export const when = (iso) => (iso ? h("time", { dateTime: iso, title: iso }, new Date(iso).toLocaleString()) : "");
export const code = (text) => h("code", {}, text);

/** Fill a choice of topics; the one in the address is chosen. */
export async function fillTopics(select) {
  const { topics } = await call("GET", "v1/topics?limit=1000");
  const wanted = new URLSearchParams(location.search).get("topic");
  select.replaceChildren(...topics.map(({ topic }) => h("option", { selected: topic === wanted }, topic)));
  if (!topics.length) notice("There is no topic yet. Create one on the overview.");
  return topics.length > 0;
}

function theme() {
  const kept = localStorage.getItem("theme");
  if (kept) document.documentElement.dataset.theme = kept;
  const button = h("button", { type: "button", className: "quiet" });
  const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const show = () => (button.textContent = dark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    const chosen = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    localStorage.setItem("theme", chosen);
    show();
    dispatchEvent(new Event("themechange"));
  });
  button.setAttribute("aria-label", "Switch between light and dark");
  show();
  return button;
}

function head() {
  const here = location.pathname.split("/").pop() || "./";
  const top = document.querySelector("header.top");
  const pages = "alone" in top.dataset ? PAGES.filter(([path]) => path === here) : PAGES;
  const links = pages.map(([path, name]) => h("a", { href: path, "aria-current": path === here ? "page" : null }, name));
  top.append(
    h("a", { className: "brand", href: "./" }, "Pathcast"),
    h("span", { className: "spacer" }),
    h("nav", { "aria-label": "Pages" }, links),
    theme(),
  );
  document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" }); // on a phone
}

head();
