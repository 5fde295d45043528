import '../web/worker.ts';
