import { Page } from "@/components/Panel";

export function HomePage() {
  return <Page />;
}
