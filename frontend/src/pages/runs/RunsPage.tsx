import { Page } from "@/components/Panel";

export function RunsPage() {
  return <Page />;
}
