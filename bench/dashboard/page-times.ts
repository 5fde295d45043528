import type { Page } from 'playwright-core';
import { writeFakeRun } from '../../test/helpers/fake-run.ts';

export const METRIC_ROWS = 100_000;
export const SAMPLES = 20_000;

/** Number of additional metrics, so that a fake run has about as many as a real one. */
const MORE_METRICS = 30;

/** Writes a long run: 100 000 rows of metrics, 20 000 samples with their tokens. */
export function writeLongRun(folder: string): void {
  writeFakeRun(folder, { steps: METRIC_ROWS, samples: SAMPLES, moreColumns: MORE_METRICS });
}

/** Milliseconds from the start of the navigation until every unfolded chart has been drawn. */
export async function timeOpening(page: Page, url: string): Promise<number> {
  await page.addInitScript(`window.drawnAt = new Promise((resolve) => {
    const check = () => {
      const cards = document.querySelectorAll('.chart-card').length;
      const drawn = document.querySelectorAll('.chart-card canvas').length;
      requestAnimationFrame(cards > 0 && drawn === cards ? () => resolve(performance.now()) : check);
    };
    requestAnimationFrame(check);
  })`);
  await page.goto(url);
  return page.evaluate<number>('window.drawnAt');
}

/** Milliseconds per frame while the list of samples scrolls by 300 pixels per frame. */
export async function timeScrolling(page: Page, frames: number): Promise<number[]> {
  return page.evaluate<number[]>(`new Promise((resolve) => {
    const box = document.querySelector('.samples-grid');
    const times = [];
    let last;
    const next = (now) => {
      if (last !== undefined) times.push(now - last);
      last = now;
      if (times.length === ${frames}) return resolve(times);
      box.scrollTop += 300;
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  })`);
}
