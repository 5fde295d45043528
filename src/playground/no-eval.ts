import { config } from 'zod';

// The schema library would otherwise try to compile code, which a strict Content-Security-Policy reports.
config({ jitless: true });
