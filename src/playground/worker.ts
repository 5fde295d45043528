// First, because schemas are created when their modules load.
import './no-eval.ts';

import '../web/worker.ts';
