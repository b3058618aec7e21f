import "@/theme/tokens.css";
import "@/theme/base.css";
import "@/theme/fonts.css";
import "@mantine/core/styles/default-css-variables.layer.css";
import "@mantine/core/styles/baseline.layer.css";
import "@mantine/core/styles/global.layer.css";
import "@mantine/core/styles/UnstyledButton.layer.css";
import "@mantine/core/styles/VisuallyHidden.layer.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "@/app/App";
import { tellStyleNonce } from "@/app/styleNonce";
import { beginLanguage } from "@/languages/choose";
import { fetchPartsAtRest, rememberBrokenStyles } from "@/parts/part";
import { rememberTyping } from "@/parts/replaced";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root");
tellStyleNonce();
rememberBrokenStyles();
rememberTyping();
await beginLanguage();
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
fetchPartsAtRest();
