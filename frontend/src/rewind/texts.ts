import { area } from "@/languages/area";
import english from "@/languages/en/rewind.json";

export const { t, rich } = area("rewind", english);
