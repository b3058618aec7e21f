import { Page } from "@/components/Panel";

export function ConfigurationsPage() {
  return <Page />;
}
