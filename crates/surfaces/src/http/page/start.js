// The addresses that `serve` and `planwright dashboard` print end in #link=…: what follows the # stays in the browser. It is
// exchanged for a cookie, and taken out of the address before anything else happens.
(async () => {
  const found = /^#(token|link)=(.+)$/.exec(location.hash);
  if (!found) return;
  const kind = found[1];
  history.replaceState(null, "", location.pathname + location.search);

  const say = (words) => {
    const note = document.getElementById("note");
    if (!note) return;
    note.textContent = words;
    note.hidden = false;
  };
  let secret;
  try {
    secret = decodeURIComponent(found[2]);
  } catch {
    return say("The address is not complete.");
  }
  try {
    const answer = await fetch(kind === "link" ? "/api/login/link" : "/api/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ [kind]: secret }),
    });
    if (answer.ok) return location.replace("/");
    const problem = await answer.json().catch(() => ({}));
    say(`You could not be signed in: ${problem.detail ?? `the server answered ${answer.status}`}.`);
  } catch {
    say("The server does not answer.");
  }
})();
