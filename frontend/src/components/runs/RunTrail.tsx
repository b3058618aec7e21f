/** The way from a run to a page of it, and back with Escape. */
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { useKeys } from "@/keys/useKeys";

import { Breadcrumbs } from "../Breadcrumbs";
import { t } from "../texts";

/** `run`: as the address has it; `name`: of its snapshot, once it is known; `children`: what this page is. */
export function RunTrail({ run, name, children }: { run: string; name: string | undefined; children: ReactNode }) {
  const navigate = useNavigate();
  useKeys([
    {
      keys: "Escape",
      label: t("backToTheRun"),
      group: t("run"),
      run: () => void navigate({ to: "/runs/$run", params: { run } }),
    },
  ]);
  return (
    <Breadcrumbs>
      <Link to="/runs/$run" params={{ run }}>
        {name === undefined ? t("run") : t("nameRun", { name })}
      </Link>
      <span>{children}</span>
    </Breadcrumbs>
  );
}
