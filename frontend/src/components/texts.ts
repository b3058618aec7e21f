import { area } from "@/languages/area";
import english from "@/languages/en/components.json";

export const { t, rich } = area("components", english);
