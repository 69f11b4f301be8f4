/** Loads a model from the page itself, the server, or a script beside the page's file. */

/** @param {string} text Base64. */
export function bytesOf(text) {
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
  return bytes;
}

/**
 * Reads a model.
 *
 * @param {string} name
 * @param {string|undefined} embedded The model in base64, if the page holds it.
 * @param {(loaded: number, total: number) => void} onProgress
 * @returns {Promise<Uint8Array>} The gzipped pack.
 */
export async function loadPack(name, embedded, onProgress) {
  if (embedded) return bytesOf(embedded);
  return location.protocol === "file:" ? scriptPack(name) : fetchPack(name, onProgress);
}

/**
 * Browsers let a page that is opened from a file run scripts beside it, but not read other files.
 *
 * @param {string} name
 * @returns {Promise<Uint8Array>}
 */
function scriptPack(name) {
  return new Promise((resolve, reject) => {
    /** @type {any} */ (window).receivePack = (text) => resolve(bytesOf(text));
    const script = document.createElement("script");
    script.src = `${encodeURIComponent(name)}.js`;
    script.onerror = () => reject(new Error(`${name}.js is missing`));
    document.head.append(script);
  });
}

/**
 * @param {string} name
 * @param {(loaded: number, total: number) => void} onProgress
 */
async function fetchPack(name, onProgress) {
  const response = await fetch(`${encodeURIComponent(name)}.gz`);
  if (!response.ok) throw new Error(`${name}.gz: ${response.status}`);
  const total = Number(response.headers.get("Content-Length"));
  const [chunks, reader] = [[], response.body.getReader()];
  let loaded = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    loaded += value.length;
    onProgress(loaded, total);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
