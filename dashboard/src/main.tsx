import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { ApiProblem, request } from "./api/client";
import { signedOut, takeTokenFromAddress } from "./api/signIn";
import { keepConnected } from "./live/live";
import { router } from "./router";
import { applyTheme, theme } from "./shell/theme";
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
  const token = takeTokenFromAddress();
  if (token !== undefined) {
    try {
      await request("POST", "/api/login", { body: { token } });
    } catch {
      signedOut();
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
