import { area } from "@/languages/area";
import english from "@/languages/en/parts.json";

export const { t } = area("parts", english);
