// The state of the playground in the URL's fragment, compressed: what is shared never reaches a server.

const toText = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

/** The state as a fragment. */
export async function packed(state) {
  return `#1${toText(await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream("deflate-raw")))}`;
}

/** The state in a fragment, or nothing when it holds none. */
export async function unpacked(fragment) {
  if (!fragment.startsWith("#1")) return null;
  try {
    return JSON.parse(new TextDecoder().decode(await through(toBytes(fragment.slice(2)), new DecompressionStream("deflate-raw"))));
  } catch {
    return null;
  }
}
