import { area } from "@/languages/area";
import english from "@/languages/en/waiting.json";

export const { t, rich } = area("waiting", english);
