import { Page } from "@/components/Panel";

export function ConfigurationPage() {
  return <Page />;
}
