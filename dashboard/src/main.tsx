import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { ApiProblem, request } from "./api/client";
import { signedOut, takeSecretFromAddress } from "./api/signIn";
import { keepConnected } from "./live/live";
import { router } from "./router";
import { applyTheme, theme } from "./shell/theme";
import { errorWords } from "./ui/basics";
import { say } from "./ui/toasts";
import "./styles/index.css";

applyTheme(theme());

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Live events say when something is old.
      staleTime: 10_000,
      retry: (failures, error) => !(error instanceof ApiProblem && error.status < 500) && failures < 3,
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 8_000),
    },
  },
});

async function begin(): Promise<void> {
  const found = takeSecretFromAddress();
  if (found !== undefined) {
    try {
      if (found.kind === "link") await request("POST", "/api/login/link", { body: { link: found.secret } });
      else await request("POST", "/api/login", { body: { token: found.secret } });
    } catch (error) {
      if (found.kind === "token") signedOut();
      // A browser that is signed in already stays so, and the person reads why the link did nothing.
      else say(errorWords(error), { tone: "failed", for: 20_000 });
    }
  }
  keepConnected();
  const app = document.getElementById("app");
  if (!app) return;
  createRoot(app).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void begin();
