// Builds the bundle that is committed: `make pages`, which is `npm ci && npm run build` here.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const target = "../../python/pathcast/service/pages/static/vendor";

const built = await build({
  entryPoints: ["vendor.js"],
  outfile: `${target}/vendor.js`,
  bundle: true,
  charset: "utf8",
  format: "esm",
  legalComments: "none",
  metafile: true,
  minify: true,
  target: "es2022",
});
copyFileSync("node_modules/uplot/dist/uPlot.min.css", `${target}/uplot.css`);

// The licences of every package that a byte of the bundle comes from.
const packages = new Set(
  Object.keys(built.metafile.inputs)
    .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
    .filter(Boolean),
);
const licences = [...packages].sort().map((name) => {
  const folder = `node_modules/${name}`;
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, "utf8").trim()}\n`;
});
writeFileSync(`${target}/LICENSES.txt`, licences.join(`\n${"-".repeat(72)}\n\n`));
