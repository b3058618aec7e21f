import { area } from "@/languages/area";
import english from "@/languages/en/clusters.json";

export const { t, rich } = area("clusters", english);
