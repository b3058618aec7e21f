import { area } from "@/languages/area";
import english from "@/languages/en/decisions.json";

export const { t, rich } = area("decisions", english);
