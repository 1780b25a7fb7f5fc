import { attribute } from "./dom.js";

const THEME_KEY = "koine-theme";
const THEMES = ["auto", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];

/** A button that cycles through system, light and dark, and stores the choice. */
export function themeSwitch(button: HTMLElement): { next(): void } {
  let theme: Theme = THEMES.find((each) => each === localStorage.getItem(THEME_KEY)) ?? "auto";
  const show = (): void => {
    attribute(document.documentElement, "data-theme", theme);
    attribute(button, "data-theme-now", theme);
    attribute(button, "aria-label", `Theme: ${theme}. Change`);
    attribute(button, "title", `Theme: ${theme} (t)`);
  };
  const next = (): void => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
    localStorage.setItem(THEME_KEY, theme);
    show();
  };
  button.addEventListener("click", next);
  show();
  return { next };
}
