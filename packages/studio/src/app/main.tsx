import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./fonts.css";
import "./tokens.css";
import "./shell.css";
import "./narrow.css";
import { App } from "./app.tsx";
import { applyTheme } from "./theme.ts";

applyTheme();
const root = document.querySelector("#root");
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
