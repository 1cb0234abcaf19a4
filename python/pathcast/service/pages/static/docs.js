// The calls, drawn from openapi.json without anybody else's script.
import { act, call, find, h } from "./shell.js";

const example = (content) => {
  const [kind, { schema, example }] = Object.entries(content)[0];
  return [kind, example ?? schema];
};
const problem = ([, { content }]) => content?.["application/problem+json"] !== undefined;
/** Text in which what stands in backticks is code. */
const prose = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", {}, part) : part));

act(async () => {
  const api = await call("GET", "openapi.json");
  const resolve = (schema) => (schema?.$ref ? api.components.schemas[schema.$ref.split("/").pop()] : schema);
  const families = new Map();
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const family = operation.tags?.[0] ?? "other";
      if (!families.has(family)) families.set(family, []);
      families.get(family).push([method, path, operation]);
    }
  }
  const shown = (value) => h("pre", {}, typeof value === "string" ? value : JSON.stringify(value, null, 2));
  const answers = (responses) => {
    const given = Object.entries(responses).filter(([status]) => status !== "default");
    const list = (some) => h("ul", {}, some.map(([status, { description }]) => h("li", {}, h("code", {}, status), " ", prose(description))));
    const good = given.filter((each) => !problem(each));
    const bad = given.filter(problem);
    const content = good[0][1].content;
    const parts = [h("p", {}, content ? `Answer: ${example(content)[0]}` : "Answer"), list(good)];
    if (content) parts.push(shown(example(content)[1]));
    if (bad.length) parts.push(h("p", {}, "Problems"), list(bad));
    return parts;
  };
  const operation = ([method, path, { summary, description, parameters = [], requestBody, responses }]) => {
    const parts = [h("p", {}, prose(description ?? ""))];
    if (parameters.length) parts.push(h("ul", {}, parameters.map((each) => h("li", {}, h("code", {}, each.name), ` in the ${each.in}${each.required ? "" : ", may be left out"}. `, prose(each.description)))));
    if (requestBody) {
      const [kind, found] = example(requestBody.content);
      const reference = found?.anyOf?.find((each) => each.$ref) ?? found;
      const schema = resolve(reference);
      parts.push(h("p", {}, `Body: ${kind}`), shown(schema?.examples?.[0] ?? schema?.properties ?? schema));
    }
    parts.push(...answers(responses));
    return h("details", { className: "operation" }, h("summary", {}, h("b", {}, method.toUpperCase()), h("code", {}, path), ` ${summary ?? ""}`), ...parts);
  };
  find("operations").replaceChildren(...[...families].map(([family, operations]) => h("section", { className: "panel" }, h("h2", {}, family[0].toUpperCase() + family.slice(1)), operations.map(operation))));
})();
