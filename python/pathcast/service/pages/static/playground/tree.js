// Places in a document: from a position to the path of its node, from a path to its position, and namespaces.

/** The tag that opens an element. */
const opening = (element) => element.getChild("OpenTag") ?? element.getChild("SelfClosingTag");

function nameOf(element, text) {
  const name = opening(element)?.getChild("TagName");
  return name ? text.slice(name.from, name.to) : null;
}

const elements = (parent) => parent.getChildren("Element");

const local = (name) => name?.slice(name.indexOf(":") + 1);

/** The namespace of names without a prefix, where an element stands. */
function defaultNamespace(element, text) {
  for (let node = element; node; node = node.parent) {
    for (const attribute of opening(node)?.getChildren("Attribute") ?? []) {
      const found = /^xmlns\s*=\s*["'](.*)["']$/s.exec(text.slice(attribute.from, attribute.to));
      if (found) return found[1];
    }
  }
  return "";
}

function step(element, text, prefixOf) {
  const name = nameOf(element, text);
  const same = elements(element.parent).filter((each) => nameOf(each, text) === name);
  const at = same.findIndex((each) => each.from === element.from);
  const prefix = name?.includes(":") ? "" : prefixOf(defaultNamespace(element, text));
  return name && `${prefix ? `${prefix}:` : ""}${name}${same.length > 1 ? `[${at + 1}]` : ""}`;
}

/** The path of the node at a position: `/news/item[2]/@lang`; `prefixOf` names the prefix of a namespace. */
export function pathAt(tree, text, position, prefixOf) {
  let node = tree.resolveInner(position, 1);
  let end = "";
  const steps = [];
  while (node) {
    if (node.name === "Attribute") {
      const name = node.getChild("AttributeName");
      const shown = name ? text.slice(name.from, name.to) : "";
      if (shown && !shown.startsWith("xmlns")) end = `/@${shown}`;
    }
    if (node.name === "Element") steps.unshift(step(node, text, prefixOf));
    node = node.parent;
  }
  return steps.length && !steps.includes(null) ? `/${steps.join("/")}${end}` : null;
}

/** The range of the node with a path as the service writes it, or nothing. */
export function rangeOf(tree, text, path) {
  let node = tree.topNode;
  let range = null;
  for (const part of path.split("/").filter(Boolean)) {
    if (part.startsWith("@")) {
      const found = opening(node)?.getChildren("Attribute").find((each) => {
        const name = each.getChild("AttributeName");
        return name && local(text.slice(name.from, name.to)) === local(part.slice(1));
      });
      return found ? [found.from, found.to] : range;
    }
    const [, name, number] = /^([^[]+)(?:\[(\d+)\])?$/.exec(part) ?? [];
    if (!name || name.endsWith("()")) return range;
    const same = elements(node).filter((each) => local(nameOf(each, text)) === local(name));
    node = same[(number ?? 1) - 1];
    if (!node) return null;
    const tag = opening(node);
    range = tag ? [tag.from, tag.to] : [node.from, node.to];
  }
  return range;
}

/** Ranges in characters from ranges in UTF-8 bytes, for ranges in any order. */
export function characters(text, spans) {
  const wanted = [...new Set(spans.flat())].sort((a, b) => a - b);
  const places = new Map();
  let byte = 0;
  let at = 0;
  for (const want of wanted) {
    while (byte < want && at < text.length) {
      const point = text.codePointAt(at);
      byte += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
      at += point < 0x10000 ? 1 : 2;
    }
    places.set(want, at);
  }
  return spans.map(([from, to]) => [places.get(from), places.get(to)]);
}

/** The namespaces that a document declares, with a prefix for each; the default one gets a prefix too. */
export function namespacesIn(text) {
  const found = new Map();
  for (const [, prefix, , double, single] of text.matchAll(/\sxmlns(?::([\w.-]+))?\s*=\s*("([^"<]*)"|'([^'<]*)')/g)) {
    const uri = double ?? single ?? "";
    if (!uri || [...found.values()].includes(uri)) continue;
    let name = prefix ?? initial(uri);
    while (found.has(name)) name += "x";
    found.set(name, uri);
  }
  return found;
}

function initial(uri) {
  const word = uri.split(/[^A-Za-z]+/).filter((each) => each.length > 1 && !["http", "https", "www", "org", "com", "urn", "xml"].includes(each)).pop();
  return (word ?? "d").slice(0, 4).toLowerCase();
}
