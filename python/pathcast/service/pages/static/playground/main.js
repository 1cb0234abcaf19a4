// The playground: a document, an expression, and the answer while one types.
import { ApiError, act, call, find, h, newest, notice, unboundPrefix } from "../shell.js";
import "./editor.js";
import { ladder } from "./ladder.js";
import { SAMPLES, sample } from "./samples.js";
import { packed, unpacked } from "./state.js";
import { characters, namespacesIn, pathAt, rangeOf } from "./tree.js";

const editor = find("document");
const expression = find("expression");
let namespaces = []; // { prefix, uri, own }: own ones were typed, the others come from the document
let cases = []; // { name, document, must }
let asking = false;
let changed = false; // since the question that is being answered
let unbound = ""; // the prefix that the expression uses and nothing binds
let reveal = false; // the first node that is found comes into view: for a sample, not while one types

const bindings = () => Object.fromEntries(namespaces.filter(({ prefix, uri }) => prefix && uri).map(({ prefix, uri }) => [prefix, uri]));
const prefixOf = (uri) => namespaces.find((each) => uri && each.uri === uri)?.prefix ?? "";
const question = (text) => ({
  xpath: expression.value.trim(),
  namespaces: bindings(),
  ordered: find("ordered").checked,
  ignore_namespaces: find("ignore").checked,
  document: text,
});

/** Ask at once, or as soon as the question before is answered. */
async function ask() {
  changed = true;
  busy(true);
  if (asking) return;
  asking = true;
  await null; // what changes together is one question
  try {
    while (changed) {
      changed = false;
      await answer();
    }
  } finally {
    asking = false;
    busy(false);
  }
}

/** Whether the verdict that is shown is still the one on what was asked before. */
function busy(is) {
  find("verdict").setAttribute("aria-busy", String(is));
}

async function answer() {
  remember();
  if (!expression.value.trim()) {
    unbound = "";
    pointer(0);
    editor.hits([]);
    find("ladder").replaceChildren();
    return verdict("Type an expression.", undefined);
  }
  const began = performance.now();
  const text = editor.value;
  let found = null;
  let problem = null;
  try {
    found = await call("POST", "v1/check", question(text));
  } catch (error) {
    if (!(error instanceof ApiError)) return notice(error.message);
    problem = error.problem;
  }
  if (editor.value !== text) return; // places in the text before mean nothing in this one
  if (found) show(found, text, performance.now() - began);
  else fail(problem);
  if (!changed) await judge();
}

function verdict(text, good, small = "") {
  const place = find("verdict");
  place.className = `verdict ${good === undefined ? "" : good ? "good" : "bad"}`;
  place.replaceChildren(text, " ", h("small", {}, small));
}

function pointer(column) {
  const place = find("pointer");
  place.hidden = !column;
  expression.setAttribute("aria-invalid", String(Boolean(column)));
  if (column) place.textContent = `${expression.value.trim()}\n${" ".repeat(column - 1)}^`;
}

function show(found, text, elapsed) {
  unbound = "";
  pointer(0);
  const ranges = placed(found.nodes ?? [], text);
  editor.hits(ranges);
  if (reveal && ranges.length) editor.show(ranges[0]);
  reveal = false;
  const count = found.nodes?.length ? `${found.selected ?? found.nodes.length} selected, ` : "";
  verdict(found.matched ? "Matches" : "Does not match", found.matched, `${count}${elapsed.toFixed(0)} ms`);
  find("ladder").replaceChildren(...ladder(found.explanation, go));
}

/** Where nodes stand in the text: by the span that the service gave, or else by their path. */
function placed(nodes, text) {
  const spans = nodes.filter(({ span }) => span).map(({ span }) => span);
  if (spans.length) return characters(text, spans);
  const { tree } = editor;
  return tree ? nodes.map(({ path }) => rangeOf(tree, text, path)).filter(Boolean) : [];
}

function fail(problem) {
  const inDocument = problem.status === 400;
  unbound = inDocument ? "" : unboundPrefix(problem);
  pointer(inDocument ? 0 : problem.column);
  const why = inDocument ? "The document is not XML yet." : unbound ? "A prefix has no namespace yet." : "The expression is not whole yet.";
  find("ladder").replaceChildren(h("p", { className: "empty" }, why));
  if (inDocument && problem.line) editor.fault(problem.line, problem.column);
  else editor.hits([]);
  const place = inDocument && problem.line ? `Document, line ${problem.line}, column ${problem.column}: ` : problem.column ? `Column ${problem.column}: ` : "";
  if (unbound) verdict(`${place}no namespace is bound to the prefix ${unbound}.`, false, advice());
  else verdict(place + problem.detail, false);
}

/** What binds the prefix on this page; the service speaks of its parameters. */
function advice() {
  const begun = namespaces.some(({ prefix }) => prefix === unbound);
  return `${begun ? "Type its namespace beside it under Namespaces" : "Press Add under Namespaces and type its namespace"}, or tick Ignore namespaces.`;
}

function go(path) {
  const { tree } = editor;
  const range = tree && rangeOf(tree, editor.value, path);
  if (range) editor.show(range);
  showPath(path);
}

function showPath(path) {
  find("path").textContent = path ?? "Click a node to get its path.";
  find("use-path").hidden = !path;
}

// Namespaces

function drawNamespaces() {
  const rows = namespaces.flatMap((each, at) => {
    const change = (field) => (event) => { each[field] = event.target.value.trim(); each.own = true; ask(); };
    return [
      h("input", { value: each.prefix, className: "mono", "aria-label": `Prefix ${at + 1}`, oninput: change("prefix") }),
      h("input", { value: each.uri, className: "mono", "aria-label": `Namespace of ${each.prefix || `prefix ${at + 1}`}`, oninput: change("uri") }),
      h("button", { type: "button", className: "quiet", "aria-label": `Remove ${each.prefix}`, onclick: () => { namespaces.splice(at, 1); drawNamespaces(); ask(); } }, "✕"),
    ];
  });
  find("namespaces").replaceChildren(...(rows.length ? rows : [h("span", { className: "empty" }, "none")]));
}

/** A new row, for the prefix that is missing if there is one; the first field to fill has the focus. */
function addNamespace() {
  const prefix = namespaces.some((each) => each.prefix === unbound) ? "" : unbound;
  namespaces.push({ prefix, uri: "", own: true });
  drawNamespaces();
  [...find("namespaces").querySelectorAll("input")].at(prefix ? -1 : -2).focus();
  ask();
}

function readNamespaces() {
  const own = namespaces.filter((each) => each.own);
  const known = new Set(own.flatMap(({ prefix, uri }) => [prefix, uri]));
  const found = [...namespacesIn(editor.value)].filter(([prefix, uri]) => !known.has(prefix) && !known.has(uri));
  const next = [...own, ...found.map(([prefix, uri]) => ({ prefix, uri, own: false }))];
  if (JSON.stringify(next) === JSON.stringify(namespaces)) return;
  namespaces = next;
  drawNamespaces();
}

// Documents that must match, or must not

function drawCases(verdicts = []) {
  find("cases").replaceChildren(...cases.map((each, at) => {
    const matched = verdicts[at];
    const right = matched === each.must;
    const told = matched === undefined ? "…" : matched === null ? "refused" : right ? "right" : each.must ? "should match" : "should not match";
    return h(
      "li",
      {},
      h("span", { className: `state ${matched === undefined ? "" : right ? "good" : "bad"}` }, told),
      h("span", { className: "name" }, `${each.name} must ${each.must ? "" : "not "}match`),
      h("button", { type: "button", className: "quiet", "aria-label": `Show ${each.name}`, onclick: () => { editor.value = each.document; } }, "Show"),
      h("button", { type: "button", className: "quiet danger", "aria-label": `Remove ${each.name}`, onclick: () => { cases.splice(at, 1); drawCases(); ask(); } }, "Remove"),
    );
  }));
}

async function judge() {
  if (!cases.length) return;
  const verdicts = await Promise.all(cases.map(async (each) => {
    try {
      return (await call("POST", "v1/check", question(each.document))).matched;
    } catch {
      return null;
    }
  }));
  if (verdicts.length === cases.length) drawCases(verdicts);
}

function keep(must) {
  const root = /<([\w:.-]+)/.exec(editor.value.replace(/<[?!][^>]*>/g, ""))?.[1] ?? "document";
  cases.push({ name: `${cases.length + 1}. ${root}`, document: editor.value, must });
  drawCases();
  ask();
}

// State

let saving = 0;
function remember() {
  clearTimeout(saving);
  saving = setTimeout(async () => history.replaceState(null, "", await packed(state())), 400);
}

const state = () => ({
  x: expression.value,
  d: editor.value,
  n: namespaces.filter((each) => each.own),
  o: find("ordered").checked,
  i: find("ignore").checked,
  c: cases,
});

function restore(kept) {
  expression.value = String(kept.x ?? "");
  namespaces = (Array.isArray(kept.n) ? kept.n : []).map(({ prefix, uri }) => ({ prefix: String(prefix), uri: String(uri), own: true }));
  cases = (Array.isArray(kept.c) ? kept.c : []).map(({ name, document, must }) => ({ name: String(name), document: String(document), must: Boolean(must) }));
  find("ordered").checked = Boolean(kept.o);
  find("ignore").checked = Boolean(kept.i);
  editor.value = String(kept.d ?? "");
  readNamespaces();
  drawNamespaces();
  drawCases();
}

const chosen = newest(); // a document that arrives late does not replace one that was chosen after it

async function load(name) {
  const [, , xpath] = SAMPLES.find(([each]) => each === name);
  const text = await chosen(sample(name));
  if (text === undefined) return;
  namespaces = [];
  expression.value = xpath;
  reveal = true;
  editor.value = text;
  readNamespaces();
  drawNamespaces();
  ask();
}

async function open(file) {
  const text = await chosen(file.text());
  if (text !== undefined) editor.value = text;
}

find("sample").append(...SAMPLES.map(([name, title]) => h("option", { value: name }, title)));
find("sample").addEventListener("change", act(async (event) => event.target.value && load(event.target.value)));
find("open").addEventListener("click", () => find("file").click());
find("file").addEventListener("change", act(async (event) => event.target.files[0] && open(event.target.files[0])));
find("share").addEventListener("click", async () => {
  history.replaceState(null, "", await packed(state()));
  try {
    await navigator.clipboard.writeText(location.href);
    notice("The link is copied. It holds the document and the expression; no server sees them.", true);
  } catch {
    notice("The link is in the address bar.", true);
  }
});
find("add-namespace").addEventListener("click", addNamespace);
find("must").addEventListener("click", () => keep(true));
find("must-not").addEventListener("click", () => keep(false));
find("use-path").addEventListener("click", () => { expression.value = find("path").textContent; expression.focus(); ask(); });
for (const id of ["ordered", "ignore"]) find(id).addEventListener("change", ask);
expression.addEventListener("input", ask);
editor.addEventListener("input", () => { readNamespaces(); ask(); });
editor.addEventListener("place", (event) => { const { tree } = editor; showPath(tree && pathAt(tree, editor.value, event.detail, prefixOf)); });

const kept = await unpacked(location.hash);
if (kept) {
  restore(kept);
  ask();
} else {
  await act(() => load("cap"))();
}
