import { computed, effect, signal } from '@preact/signals';

const themes = ['system', 'light', 'dark'] as const;

export type Theme = (typeof themes)[number];

const key = 'proximal-theme';
const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const systemScheme = signal(prefersDark.matches);

/** The user's choice; saved if the browser allows it. */
export const theme = signal<Theme>(readTheme());

/** Whether the page is currently dark. */
export const isDark = computed(() =>
  theme.value === 'system' ? systemScheme.value : theme.value === 'dark',
);

/** Applies the theme to the page, now and whenever it changes. */
export function applyTheme(): void {
  prefersDark.addEventListener('change', ({ matches }) => {
    systemScheme.value = matches;
  });
  effect(() => {
    if (theme.value === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme.value;
    saveTheme(theme.value);
  });
}

/** The next theme in the order system, light, dark. */
export function nextTheme(current: Theme): Theme {
  return themes[(themes.indexOf(current) + 1) % themes.length]!;
}

/** A colour variable of theme.css, resolved for use in a canvas. */
export function resolveColour(variable: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${variable})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

// Storage may be forbidden for a page from a file or in private mode.
function readTheme(): Theme {
  try {
    return themes.find((one) => one === localStorage.getItem(key)) ?? 'system';
  } catch {
    return 'system';
  }
}

function saveTheme(chosen: Theme): void {
  try {
    localStorage.setItem(key, chosen);
  } catch {
    // The theme then lasts until the page is closed.
  }
}
