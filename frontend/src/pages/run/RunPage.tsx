import { Page } from "@/components/Panel";

export function RunPage() {
  return <Page />;
}
