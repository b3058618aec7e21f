import { area } from "@/languages/area";
import english from "@/languages/en/whatIf.json";

export const { t, rich } = area("whatIf", english);
