// Shows pushes and opens what they are about. It keeps no pages and answers no requests.

/** A push that cannot be read is shown, too: browsers end the subscription of a page that hides one. */
function read(data) {
  try {
    const push = data?.json();
    const text = (value) => (typeof value === "string" ? value : undefined);
    return { title: text(push?.title) ?? "Planwright", body: text(push?.body) ?? "", path: text(push?.path) ?? "/", tag: text(push?.tag) };
  } catch {
    return { title: "Planwright", body: "", path: "/", tag: undefined };
  }
}

self.addEventListener("push", (event) => {
  const { title, body, path, tag } = read(event.data);
  event.waitUntil(self.registration.showNotification(title, { body, tag, icon: "/icon-192.png", data: { path } }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const wanted = new URL(event.notification.data?.path ?? "/", self.location.origin);
  // Only pages of ours are opened.
  const page = wanted.origin === self.location.origin ? wanted : new URL("/", self.location.origin);
  event.waitUntil(open(page));
});

/** A window that shows it already comes to the front. Others are left as they are: something may be half written there. */
async function open(page) {
  const windows = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  const found = windows.find(({ url }) => new URL(url).pathname === page.pathname && new URL(url).search === page.search);
  await (found?.focus() ?? self.clients.openWindow(page.href));
}

/** The push service gave the browser another address. */
self.addEventListener("pushsubscriptionchange", (event) => {
  event.waitUntil(subscribeAgain(event));
});

async function subscribeAgain({ oldSubscription, newSubscription }) {
  const options = oldSubscription?.options;
  const subscription = newSubscription ?? (options && (await self.registration.pushManager.subscribe(options)));
  if (!subscription) return;
  const { endpoint, keys } = subscription.toJSON();
  await fetch("/api/push", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth } }) });
}
