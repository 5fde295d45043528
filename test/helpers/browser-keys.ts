import type { Page } from 'playwright-core';
import { expect } from 'vitest';

interface FocusedElement {
  /** The accessible name. */
  readonly name: string;
  /** Width of the focus outline, in pixels. */
  readonly outline: number;
}

/** The focused element. */
export function readFocus(page: Page): Promise<FocusedElement> {
  return page.evaluate<FocusedElement>(`(() => {
    const element = document.activeElement;
    // After the last control, Tab leaves the page.
    if (element === document.body) return { name: '', outline: 0 };
    const label = element.labels?.[0]?.firstChild?.textContent;
    const name = element.getAttribute('aria-label') ?? label ?? element.textContent;
    const style = getComputedStyle(element);
    const hasOutline = style.outlineStyle !== 'none' && style.outlineColor !== 'rgba(0, 0, 0, 0)';
    return { name: name.trim(), outline: hasOutline ? parseFloat(style.outlineWidth) : 0 };
  })()`);
}

/** Presses Tab until the focused element's name starts with this one. Every focused element on the
 *  way must have a visible outline. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: string[] = [];
  for (let i = 0; i < 150; i++) {
    await page.keyboard.press('Tab');
    const focused = await readFocus(page);
    if (focused.name !== '') expect(focused.outline, focused.name).toBeGreaterThanOrEqual(2);
    if (focused.name.startsWith(name)) return;
    passed.push(focused.name.slice(0, 40));
  }
  throw new Error(`Tab never reaches ${name}, only ${passed.join(', ')}`);
}
