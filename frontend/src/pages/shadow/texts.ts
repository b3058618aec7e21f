import { area } from "@/languages/area";
import english from "@/languages/en/shadow.json";

export const { t } = area("shadow", english);
