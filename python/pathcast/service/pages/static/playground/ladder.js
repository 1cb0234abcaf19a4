// The ladder: each step and predicate of the expression with what it found, down to the first that found nothing.
import { h } from "../shell.js";

const counted = (count) => (count === 1 ? "1 node" : `${count.toLocaleString()} nodes`);

function predicate({ text, kept, of, found }) {
  const wanted = h("li", { className: kept ? "" : "none" }, h("b", { className: "mono" }, text), ` keeps ${kept} of ${of}`);
  if (!kept && found?.length) wanted.append(h("div", {}, "found instead: ", h("code", {}, found.join(", "))));
  return wanted;
}

function rung({ text, count, nodes, hints = [], predicates = [] }, go) {
  const places = nodes.map((path) => h("button", { type: "button", className: "quiet", onclick: () => go(path) }, path));
  if (count > nodes.length && nodes.length) places.push(h("span", { className: "mono" }, "…"));
  return h(
    "li",
    { className: count ? "" : "none" },
    h("span", { className: "count" }, count ? counted(count) : "finds nothing"),
    h("code", {}, text),
    predicates.length ? h("ul", {}, predicates.map(predicate)) : null,
    hints.length ? h("ul", {}, hints.map((hint) => h("li", {}, hint))) : null,
    places.length ? h("div", { className: "places" }, places) : null,
  );
}

/** The ladder of an explanation; `go` is called with the path of a node that somebody wants to see. */
export function ladder({ paths, failure }, go) {
  const parts = [];
  if (failure) parts.push(h("p", { className: "notice bad" }, `The first part that fails: `, h("code", {}, failure)));
  for (const path of paths) {
    if (paths.length > 1) parts.push(h("h3", { className: "mono" }, `${path.matched ? "✓" : "✗"} ${path.text}`));
    parts.push(h("ol", { className: "ladder" }, path.steps.map((step) => rung(step, go))));
  }
  if (!paths.length) parts.push(h("p", { className: "empty" }, "The expression has no path to follow."));
  return parts;
}
