import { area } from "@/languages/area";
import english from "@/languages/en/home.json";

export const { t, rich } = area("home", english);
