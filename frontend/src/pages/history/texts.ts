import { area } from "@/languages/area";
import english from "@/languages/en/history.json";

export const { t, rich } = area("history", english);
