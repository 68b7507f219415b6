// The address that is printed at the first start ends in #token=…: what follows the # stays in the browser. It is
// exchanged for a cookie, and taken out of the address before anything else happens.
(async () => {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", location.pathname + location.search);

  const say = (words) => {
    const note = document.getElementById("note");
    if (!note) return;
    note.textContent = words;
    note.hidden = false;
  };
  let token;
  try {
    token = decodeURIComponent(found[1]);
  } catch {
    return say("The address is not complete.");
  }
  try {
    const answer = await fetch("/api/login", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (answer.ok) return location.replace("/");
    const problem = await answer.json().catch(() => ({}));
    say(`You could not be signed in: ${problem.detail ?? `the server answered ${answer.status}`}.`);
  } catch {
    say("The server does not answer.");
  }
})();
