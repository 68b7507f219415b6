// Runs before the scripts of every page, in a file of its own: the content security policy allows none in the page. It asks at once for
// what the address names, so that a slow network brings it beside the scripts and not after them:
// - the scripts of the page
// - the live connection, and once that tells of changes what the page reads first; what is asked then is not asked again
// - the text of a plan, shown as it is written until the page is there
const ROUTES = [];
const { pathname, hash, host, protocol } = location;
const route = ROUTES.find(([path]) => new RegExp(path).test(pathname));
for (const href of route?.[1] ?? []) document.head.append(Object.assign(document.createElement("link"), { rel: "modulepreload", crossOrigin: "", href }));

// A link signs in first.
if (!/^#(token|link)=/.test(hash)) connect();

function connect() {
  const early = { socket: new WebSocket(`${protocol === "https:" ? "wss" : "ws"}://${host}/ws`), frames: [], answers: new Map() };
  window.planwrightEarly = early;
  early.socket.onopen = () => early.socket.send('{"type":"watch"}');
  early.socket.onmessage = ({ data }) => {
    early.frames.push(data);
    const { type } = JSON.parse(data);
    if (type === "changed") early.answers.clear();
    if (type === "watching") ask(early);
  };
}

function ask({ answers }) {
  const plan = /^\/p\/([^/]+)$/.exec(pathname)?.[1];
  if (plan === undefined) return;
  for (const path of [`/api/plans/${plan}`, `/api/plans/${plan}/review`]) answers.set(path, read(path));
  const shown = answers.get(`/api/plans/${plan}`).then((answer) => (answer.ok ? answer.clone().json() : undefined));
  shown.then((found) => found && setTimeout(() => show(found), Math.max(0, 1_000 - performance.now()))).catch(() => undefined);
}

/** Read to its end, also if no one takes it: a connection is not kept for it. */
async function read(path) {
  const answer = await fetch(path, { credentials: "same-origin" });
  return new Response(await answer.arrayBuffer(), answer);
}

/** Only where the scripts are still under way. Letters that cannot be seen are written out. */
function show({ title, version, markdown }) {
  const boot = document.querySelector(".boot");
  const isHere = performance.getEntriesByType("resource").some(({ name }) => /\/base-[^/]+\.js$/.test(name));
  if (!boot || isHere || !markdown) return;
  const written = (text) => text.replace(/(?![\n\t])(?!(?<=\p{Extended_Pictographic}\ufe0f?)\u200d|(?<=\p{Extended_Pictographic})\ufe0f)[\p{Cc}\p{Cf}\p{DI}\u0334-\u0338\u2028\u2029\u2800⟦]/gu, (letter) => `⟦U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟧`);
  const add = (name, className, text) => boot.append(Object.assign(document.createElement(name), { className, textContent: written(text), dir: "auto" }));
  boot.classList.add("boot-plan");
  add("p", "boot-name", title ?? "");
  add("p", "boot-version", `Version ${version} of the plan, as it is written:`);
  add("pre", "boot-text", markdown);
  Object.assign(boot.lastElementChild.style, { whiteSpace: "pre-wrap", overflowWrap: "anywhere", textAlign: "start" });
}
