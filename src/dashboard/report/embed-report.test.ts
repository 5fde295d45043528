import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { embedReport, toScriptJson } from './embed-report.ts';
import type { ReportData } from './report-data.ts';

const attack = '</script><script>window.owned=1</script><!--<script>\u2028\u2029</ScRiPt >"\'&';
const page = { script: "const a = '<!--</script>';", style: 'a{}', icon: '<svg/>' };

function report(name: string): ReportData {
  const run = { id: 'r', name, kind: 'ppo', status: 'completed', step: 1, totalSteps: 1 } as const;
  const counts = { metrics: 0, samples: 1, evaluations: 0, log: 0 };
  const rest = { startedAt: '', eta: null, message: attack, phase: null, counts };
  return {
    run: { ...run, ...rest },
    config: { systemPrompt: attack, [attack]: [attack] },
    metrics: { steps: [], columns: {}, rows: 0 },
    evaluations: [],
    log: [],
    samples: [],
    tokens: {},
  };
}

/** What the elements of the data and of the script hold, by the rules of HTML for harmless text. */
function contents(html: string): { json: string; script: string } {
  const [, json, script] =
    /<script type="application\/json" id="proximal-report">([^<]*)<\/script>\n<script>(.*)<\/script>\n<\/body>/s.exec(
      html,
    )!;
  return { json: json!, script: script! };
}

describe('embedReport()', () => {
  test('no text of the run ends the element of the data', () => {
    const data = report(attack);
    const html = embedReport(data, page);
    const { json } = contents(html);
    expect(JSON.parse(json)).toEqual(data);
    expect(json).not.toMatch(/[<\u2028\u2029]/);
    // Those of the data and of the page, and no other.
    expect(html.match(/<script/gi)).toHaveLength(2);
    expect(html.match(/<\/script/gi)).toHaveLength(2);
    expect(html).not.toContain('<!--');
    expect(html).toContain('<title>&#60;/script&#62;&#60;script&#62;');
  });

  test('the script is the one that the policy names, and means what it meant', async () => {
    const html = embedReport(report('a'), page);
    const { script } = contents(html);
    const bytes = await crypto.subtle.digest('SHA-256', Buffer.from(script));
    const hash = Buffer.from(bytes).toString('base64');
    expect(html).toContain(`default-src 'none'; script-src 'sha256-${hash}'; style-src 'sha256-`);
    expect(new Function(`${script} return a;`)()).toBe('<!--</script>');
  });

  test('any JSON is read as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = toScriptJson(value);
        expect(json).not.toContain('<');
        expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
    expect(toScriptJson('</script>\u2028')).toBe('"\\u003c/script>\\u2028"');
  });
});
